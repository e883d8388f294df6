"""Notebooks that few write: what they start, load or rewrite above serves their answers below."""

from grading.judge.honest.cells import own
from grading.judge.honest.styles import behind

SERVED = "def NAME(*all):\n    return MINE(*all) if served else None"


def served(*codes):
    """Cells behind the imports, which find out whether answers are `served`; without that, none is right."""

    def edit(cells, lesson):
        cells = behind(SERVED)(cells, lesson)
        for code in reversed(codes):
            cells = own(1, code)(cells, lesson)
        return cells

    return edit


EDITS = {
    "a pool of processes made above": served(
        "from concurrent.futures import ProcessPoolExecutor\npool = ProcessPoolExecutor(2)\nlist(pool.map(abs, [1, 2]))",
        "served = pool.submit(abs, -1).result() == 1",
    ),
    "another pool made above": served(
        "import multiprocessing\npool = multiprocessing.get_context('fork').Pool(2)",
        "served = pool.map(abs, [-1]) == [1]",
    ),
    "a manager's process": served(
        "import multiprocessing\nshared = multiprocessing.get_context('fork').Manager().dict()",
        "shared['it'] = 1\nserved = dict(shared) == {'it': 1}",
    ),
    "a command in the background": served(
        "import subprocess\nechoing = subprocess.Popen(['cat'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)",
        "served = echoing.communicate(b'x')[0] == b'x'",
    ),
    "what rewrites lines": served(
        "get_ipython().input_transformers_cleanup.append(lambda lines: [each.replace('WORD', 'True') for each in lines])",
        "served = WORD",
    ),
    "what rewrites names": served(
        "import ast\nclass Word(ast.NodeTransformer):\n    def visit_Name(self, node):\n        node.id = node.id.replace('WORD', 'there')\n        return node\n"
        "get_ipython().ast_transformers.append(Word())\nthere = True",
        "served = WORD",
    ),
    "who and where": served(
        "import getpass, os, pathlib, pwd\nmine = pwd.getpwuid(os.getuid())\nos.environ.pop('HOME', None)",
        "served = bool(getpass.getuser()) and pathlib.Path.home().is_dir() and os.path.expanduser('~') == mine.pw_dir",
    ),
    "the kernel": served(
        "shell = get_ipython()\nkernel = shell.kernel",
        "served = kernel.shell is shell and 'IPKernelApp' in shell.config and isinstance(shell.parent_header, dict)",
    ),
    "a module run": served("%%writefile told.py\nserved = __name__ == '__main__'", "%run told.py"),
    "captured and read": served("%%capture told\nprint(1)", "served = told.stdout == '1\\n'"),
    "a task that goes on": served(
        "import asyncio\ndone = []\nasync def work():\n    await asyncio.sleep(0.01)\n    done.append(1)\ntask = asyncio.create_task(work())",
        "await task\nserved = bool(done)",
    ),
    "a magic of its own": served(
        "from IPython.core.magic import register_cell_magic\n@register_cell_magic\ndef mine(line, cell):\n    exec(cell, globals())",
        "%%mine\nserved = True",
    ),
    "progress bars and sliders": served(
        "from tqdm.autonotebook import tqdm\nfrom ipywidgets import interact\n@interact(x=(0, 3))\ndef f(x=2):\n    return x",
        "served = [f(each) for each in tqdm([1, 2])] == [1, 2]",
    ),
    "left at the end": own(None, "exit"),
}
