"""What goes wrong first in lesson 08 on the journey through the course."""

from dpcourse.course.slip import Slip

SLIP = Slip(
    function="rules_out",
    misconception="turned over",
    right="all(count + noise != output",
    wrong="any(count + noise == output",
)
