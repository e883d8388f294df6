"""What goes wrong first in lesson 06 on the journey through the course."""

from dpcourse.course.slip import Slip

SLIP = Slip(
    function="best_order",
    misconception="base ten",
    right="math.log(1 / delta)",
    wrong="math.log10(1 / delta)",
)
