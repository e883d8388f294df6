"""What goes wrong first in lesson 07 on the journey through the course."""

from dpcourse.course.slip import Slip

SLIP = Slip(
    function="mu_at_least",
    misconception="union forgotten",
    right="1 - (1 - confidence) / 2",
    wrong="confidence",
)
