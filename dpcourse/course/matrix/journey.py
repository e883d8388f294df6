"""What goes wrong first in lesson 09 on the journey through the course."""

from dpcourse.course.slip import Slip

SLIP = Slip(
    function="fresh_or_whole",
    misconception="the last sum only",
    right="math.sqrt((steps + 1) / 2) / mu",
    wrong="math.sqrt(steps) / mu",
)
