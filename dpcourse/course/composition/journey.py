"""What goes wrong first in lesson 01 on the journey through the course."""

from dpcourse.course.slip import Slip

SLIP = Slip(
    function="advanced_composition",
    misconception="log of 1/epsilon",
    right="math.log(1 / delta_prime)",
    wrong="math.log(1 / epsilon)",
)
