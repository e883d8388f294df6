"""What goes wrong first in lesson 10 on the journey through the course."""

from dpcourse.course.slip import Slip

SLIP = Slip(
    function="same_unit",
    misconception="δ times the rows",
    right="delta * sum(math.exp(j * epsilon) for j in range(rows))",
    wrong="delta * rows",
)
