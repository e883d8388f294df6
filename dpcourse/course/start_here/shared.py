"""What several exercises of lesson 00 share."""

import math


def keep_chance(epsilon):
    return math.exp(epsilon) / (1 + math.exp(epsilon))
