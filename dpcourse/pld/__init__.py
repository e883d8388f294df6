r"""Exact composition (lesson 04): every answer is an interval that provably holds the true value.

P is the distribution of the output *with* Mia, Q that without her (the lessons write them the other way round). A
mechanism with a pair (P, Q) has the hockey-stick function h(gamma) = E_Q (Lambda - gamma)_+, Lambda = dP/dQ, which is
delta at gamma = e^epsilon. How the interval is certified:
1. h is convex, so lines between its values at grid points lie above it, and tangents lie below it. The upper curve
   connects the dots; the lower curve connects, at each grid point, the lower of the tangents at the middles of the two
   cells beside it. Both are hockey-stick functions of non-negative measures on the grid.
2. If h_a <= h_b everywhere, then the same holds after composing both with any third measure (the composed h is an average
   of h's), so the order survives n steps; nothing needs to sum to exactly 1.
3. Before composing, each measure is scaled until its own h, summed in extended precision, keeps the order at every dot.
4. The measures are tilted by e^(theta loss) before the Fourier transform, so that round-off is small beside delta itself;
   the mass beyond the window is bounded by Chernoff's inequality, the round-off by the usual bound for the FFT.
5. delta is linear in the composed measure: all these errors are added to the upper end and taken from the lower one.
6. Every grid and every tilt gives an interval that holds, so several tries may be intersected.
`mu` and `distance` compare delta with that of a Gaussian, and prove it between the epsilons too, by convexity (mu.py).
Taken as given, not proved: erfcx of a positive number, exp and log are within EVALUATION, log_gaussian_delta within a
tenth of SAFE, scipy's FFT within FFT_LEVEL per level, and numpy's longdouble is longer than a double; where it is none
(Windows, Apple silicon), the sums of step 3, and a group's outputs and sums, are those of doubles, and the certificate
holds up to their rounding.
Source: Doroshenko, Ghazi, Kamath, Kumar & Manurangsi (2022), theorem 4.1 (connect the dots); Zhu, Dong & Wang (2022),
theorem 10 (domination survives composition); Ganesh (2024) (groups); Koskela, Jälkö & Honkela (2020) (FFT); Gopi,
Lee & Wutschitz (2021).
"""

from dpcourse.pld.bounds import Bounds, Unreachable
from dpcourse.pld.curve import Curve
from dpcourse.pld.mechanisms import approx_dp, gaussian, laplace, noisy_sgd, randomized_response

__all__ = [
    "Bounds",
    "Curve",
    "Unreachable",
    "approx_dp",
    "gaussian",
    "laplace",
    "noisy_sgd",
    "randomized_response",
]
