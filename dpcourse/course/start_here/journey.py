"""What goes wrong first in lesson 00 on the journey through the course."""

from dpcourse.course.slip import Slip

SLIP = Slip(
    function="keep_probability",
    misconception="the flip",
    right="return math.exp(epsilon) /",
    wrong="return 1 /",
)
