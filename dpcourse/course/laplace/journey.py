"""What goes wrong first in lesson 02 on the journey through the course."""

from dpcourse.course.slip import Slip

SLIP = Slip(
    function="report_noisy_max",
    misconception="m times the noise",
    right="1 / epsilon",
    wrong="len(counts) / epsilon",
)
