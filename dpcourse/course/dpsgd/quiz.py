"""The quiz of lesson 05."""

from dpcourse.engine import Option, Question

QUIZ = (
    Question(
        "Which number may the noisy sum be divided by?",
        (
            Option(
                "The number of people drawn: that makes it a mean.",
                False,
                "It is secret: it counts filled rows only, so it changes with Mia, and it may be 0. The noise was made for the sum, not for this quotient.",
            ),
            Option(
                "Any number that is public, such as p·n, with n the number of rows, filled or empty.",
                True,
                "Dividing by a public number is post-processing. It changes the learning rate, not the privacy. (If rows come and go and n is secret, p·n is no such number: the size of the noise would tell n.)",
            ),
            Option(
                "None: dividing makes the noise smaller, and the privacy worse.",
                False,
                "It makes the sum smaller in the same proportion. What counts is the noise relative to what Mia can change.",
            ),
        ),
    ),
    Question(
        "A colleague replaces SGD by Adam, feeding it the same noisy gradients. What does that cost?",
        (
            Option(
                "Nothing.",
                True,
                "Adam only computes with what is already noisy: post-processing. That the next gradients depend on its weights is what composition allows.",
            ),
            Option(
                "Twice the budget, for two moments are kept.",
                False,
                "Both moments are functions of the same noisy gradients. Nothing new is asked of the data.",
            ),
            Option(
                "It depends on β₁ and β₂.",
                False,
                "Whatever the βs are, they never touch the data. They change how well it learns.",
            ),
        ),
    ),
    Question(
        "Mia is in a batch with probability p, and the lemma gives the curve f_p = p f + (1-p) Id. Why is f_p alone not the guarantee of a step?",
        (
            Option(
                "Because batches may be empty.",
                False,
                "They may, but that is in the formula already: it averages over all batches.",
            ),
            Option(
                "Because f_p holds for large data sets only.",
                False,
                "It holds for any size. It comes from convexity, not from a limit.",
            ),
            Option(
                "Because f_p bounds one direction, and the other one has the inverse curve.",
                True,
                "Without Mia against with her is f_p, with her against without is its inverse. A guarantee needs both: min{f_p, f_p⁻¹}**.",
            ),
        ),
    ),
)
