"""What goes wrong first in lesson 04 on the journey through the course."""

from dpcourse.course.slip import Slip

SLIP = Slip(
    function="limit_mu",
    misconception="2 forgotten",
    right="return 2 * k / s",
    wrong="return k / s",
)
