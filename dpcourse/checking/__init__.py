"""What an exercise is and how an answer is judged; this room knows no lesson.

The file of an exercise imports nothing else of this room than what is named here."""

from dpcourse.checking.diagnosis.noise import Noise
from dpcourse.checking.domain import Domain, Fields, Made, Number, OneOf, Seed, Several, Whole
from dpcourse.checking.exercise import Exercise, Misconception, Needed, any_of
from dpcourse.checking.given_out import GivenOut
from dpcourse.checking.inputs import rounded
from dpcourse.checking.law import AddedNoise
from dpcourse.checking.open_exercise import OpenExercise
from dpcourse.checking.question import Option, Question
from dpcourse.checking.random_exercise import RandomExercise
from dpcourse.checking.returns import a_number, a_whole_number, bits_like, numbers_like, several, true_or_false
from dpcourse.checking.statistics import Count
from dpcourse.checking.variants import Variants, variants
from dpcourse.checking.verdict import BLANK, ERROR, RECEIVED, RIGHT, WRONG, Audit, Observation, Verdict

__all__ = [
    "BLANK",
    "ERROR",
    "RECEIVED",
    "RIGHT",
    "WRONG",
    "AddedNoise",
    "Audit",
    "Count",
    "Domain",
    "Exercise",
    "Fields",
    "GivenOut",
    "Made",
    "Misconception",
    "Needed",
    "Noise",
    "Number",
    "Observation",
    "OneOf",
    "OpenExercise",
    "Option",
    "Question",
    "RandomExercise",
    "Seed",
    "Several",
    "Variants",
    "Verdict",
    "Whole",
    "a_number",
    "a_whole_number",
    "any_of",
    "bits_like",
    "numbers_like",
    "rounded",
    "several",
    "true_or_false",
    "variants",
]
