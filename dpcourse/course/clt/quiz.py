"""The quiz of lesson 04."""

from dpcourse.checking import Option, Question

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
                "Because deltas add in quadrature, as the epsilons do, and so they grow more slowly than these.",
                False,
                "They do not: the chance that nothing fails is the product of the (1 - δ), which goes to e^-Σδ.",
            ),
            Option(
                "Because a failure has an infinite loss.",
                True,
                "A sum with infinite summands does not become normal. So the failures are taken out first, and what remains has finite moments.",
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
        "Training at σ = 0.5, rate 0.03, 10,000 steps: the limit says ε = 334 at δ = 10⁻⁵, and the exact value is 161. Is this dangerous?",
        (
            Option(
                "Yes: Mia is less protected than promised.",
                False,
                "It is the other way round: she is better protected than was said.",
            ),
            Option(
                "No. But at an ε of 161 there is no privacy to speak of, with either number.",
                True,
                "At δ = 10⁻⁵ the limit is far too high only where the exact ε is large already.",
            ),
            Option(
                "It cannot be: the limit is always too low, because the right tail of a step is heavy.",
                False,
                "That is the fault where the steps are few. Exercise {too_high} finds the other one.",
            ),
        ),
    ),
    Question(
        "The app looks at Monday's answer. Which of these may depend on it?",
        (
            Option(
                "What is asked on Tuesday.",
                True,
                "Whatever Monday said, Tuesday's answer is g-DP, and g was fixed before. That is adaptive composition.",
            ),
            Option(
                "How much noise Tuesday's answer gets, if each choice by itself keeps the promise.",
                False,
                "Plans A and B of section 1 both kept it, and choosing between them after a look broke it.",
            ),
            Option(
                "Nothing: the product is for independent answers.",
                False,
                "P × P' is a pair of independent outputs, but the theorem holds for questions that depend on what came before.",
            ),
        ),
    ),
    Question(
        "An accountant rounds every loss to the nearest multiple of 0.01 and finds δ = 0.8·10⁻⁵. What is known of the true δ?",
        (
            Option(
                "It is at most 0.8·10⁻⁵.",
                False,
                "Some losses were made smaller. The month of section 3 is such a case: its true δ is 10⁻⁵.",
            ),
            Option(
                "It lies within 1 % of that.",
                False,
                "0.01 is an error of one loss. It is added up over all answers, and δ depends on the sum exponentially.",
            ),
            Option(
                "Nothing that could be promised: it may be larger.",
                True,
                "Only if every loss is rounded up is the δ found an upper bound.",
            ),
        ),
    ),
    Question(
        "At σ = 1 and 1,000 steps the limit is 12 % too low. Which change makes it nearly right?",
        (
            Option(
                "A sample rate of 0.0001 in place of 0.01, so that Mia is hardly ever drawn.",
                False,
                "The rate only scales a small loss. Its shape, which is what is wrong, stays.",
            ),
            Option(
                "10,000 steps.",
                True,
                "The skewness of the sum falls with the root of the steps. There the limit is 3 % too low.",
            ),
            Option(
                "Less noise, σ = 0.7.",
                False,
                "Then X is far more lopsided: skew(X) is 25 in place of 6, and the limit needs more steps.",
            ),
        ),
    ),
)
