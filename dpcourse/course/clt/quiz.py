"""The quiz of lesson 04."""

from dpcourse.engine import Option, Question

QUIZ = (
    Question(
        "Two answers about Mia are 1-GDP each. What are they together?",
        (
            Option(
                "2-GDP: the μs add.",
                False,
                "That is what epsilons do in the worst case. Here squares add: 1 + 1 = 2, and the root is 1.41.",
            ),
            Option(
                "1-GDP: the second answer brings nothing new.",
                False,
                "It brings a second look, with noise of its own. Averaging the two halves the variance.",
            ),
            Option("1.41-GDP, exactly.", True, "√(1² + 1²) = 1.41. For Gaussians this is no approximation."),
        ),
    ),
    Question(
        "Somebody computes kl of a trade-off function and gets a negative number. What happened?",
        (
            Option(
                "The minus sign was forgotten.",
                True,
                "kl is minus the mean loss. By Jensen's inequality that is never negative.",
            ),
            Option(
                "The mechanism is better than perfectly private.",
                False,
                "Nothing is. The identity has kl = 0, and every other curve has more.",
            ),
            Option(
                "Nothing: it depends on the curve.",
                False,
                "It does not: kl is a Kullback-Leibler divergence, and those are never negative.",
            ),
        ),
    ),
    Question(
        "100 answers have γ = 0.057. Which ε does Berry and Esseen's theorem guarantee at δ = 10⁻⁵?",
        (
            Option(
                "The limit's ε, up to 5.7 %.",
                False,
                "γ is a distance between probabilities, not a relative error of ε.",
            ),
            Option(
                "None.",
                True,
                "A mechanism that tells everything with probability γ lies within its band, so no δ below 0.057 can be guaranteed.",
            ),
            Option(
                "The limit's ε: it is on the safe side.",
                False,
                "The limit may lie on either side, and at this δ the theorem gives no upper bound on ε.",
            ),
        ),
    ),
    Question(
        "Why do the deltas stay beside the Gaussian in the limit of many (ε, δ)-DP answers?",
        (
            Option(
                "Because δ is too small to matter.",
                False,
                "It matters: it is the chance that everything is told. It stays in the result, beside the Gaussian.",
            ),
            Option(
                "Because a failure has an infinite loss, and a sum with infinite summands does not become normal.",
                True,
                "The failures are taken out first, and what remains has finite moments.",
            ),
            Option(
                "Because deltas add in quadrature too.",
                False,
                "They do not: the chance that nothing fails is the product of the (1 - δ), which goes to e^-Σδ.",
            ),
        ),
    ),
    Question(
        "A paper says: trained with ε = 1.62 at δ = 10⁻⁵, by the CLT. The library's pld says: between 1.8282 and 1.8283. What do you report?",
        (
            Option("1.8283", True, "The upper end is a guarantee: the truth is certainly not above it."),
            Option(
                "1.62: the smaller value is the better analysis.",
                False,
                "A smaller ε is better only where it is true. The lower end of the interval proves that this one is not.",
            ),
            Option(
                "1.8282, to be fair to both.",
                False,
                "The lower end shows how good the upper one is. It is no guarantee.",
            ),
        ),
    ),
    Question(
        "With little noise and many steps the limit's ε is far above the exact one. Is this dangerous?",
        (
            Option(
                "Yes: Mia is less protected than promised.",
                False,
                "It is the other way round: she is better protected than was said.",
            ),
            Option(
                "No, but it wastes accuracy: more noise is added than the promise needs.",
                True,
                "Whoever chooses the noise by the limit chooses too much of it here.",
            ),
            Option(
                "It cannot happen: the limit is always too low.",
                False,
                "It happens. Exercise {too_high} finds such a setting.",
            ),
        ),
    ),
)
