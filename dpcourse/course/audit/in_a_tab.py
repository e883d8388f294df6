"""Lesson 07 in a browser tab, where no PyTorch runs: what its trainings gave is stored in trainings.npz.

It holds the canary's weight after every step, `out` of the runs without her and `inside` of those with her, each of shape
(runs, steps + 1, 1), as the two cells of the lesson that train give it.
"""

from dpcourse.base.languages import to_say

ABOUT = to_say(
    "No PyTorch runs in a browser tab. Read how this lesson trains with it: the cell below loads what these lines gave elsewhere."
)
CODE = """from importlib.resources import files

people, features, steps, rate, sigma, trainings = 20, 6, 8, 0.25, 0.6, 150
with np.load(files("dpcourse") / "course/audit/trainings.npz") as weights:  # the canary's
    paths_out, paths_in = weights["out"], weights["inside"]
"""
