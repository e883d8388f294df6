"""What goes wrong first in lesson 03 on the journey through the course."""

from dpcourse.course.slip import Slip

SLIP = Slip(
    function="noisy_counts",
    misconception="one count only",
    right="math.sqrt(m) / mu",
    wrong="1 / mu",
)
