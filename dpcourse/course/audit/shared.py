"""What several exercises of lesson 07 share."""

from scipy.special import betaincinv, ndtri


def upper_bound(errors, trials, confidence):
    return float(betaincinv(errors + 1, trials - errors, confidence)) if errors < trials else 1.0


def lower_bound(errors, trials, confidence):
    return float(betaincinv(errors, trials - errors + 1, 1 - confidence)) if errors else 0.0


def mu_of_errors(alpha, beta):
    return float(-ndtri(min(alpha, 1 - 1e-12)) - ndtri(min(beta, 1 - 1e-12)))


def error_share(errors, trials, confidence):
    return errors / trials
