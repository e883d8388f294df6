"""What goes wrong first in lesson 05 on the journey through the course."""

from dpcourse.course.slip import Slip

SLIP = Slip(
    function="noisy_sgd_step",
    misconception="number drawn",
    right="/ expected_batch",
    wrong="/ max(1, len(gradients))",
)
