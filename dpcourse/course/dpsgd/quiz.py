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
    Question(
        "Two networks, one trained with σ = 1.3 and ε = 1.34 by the moments accountant, the other with σ = 1.06 and ε = 1.34 by the CLT; same batches, same 20 epochs. Which is more private?",
        (
            Option(
                "Neither: both have ε = 1.34.",
                False,
                "The two numbers come from two rulers. Measured by one ruler, the exact one, they differ.",
            ),
            Option("The one with σ = 1.3.", True, "More noise, all else equal: exactly ε is 1.01 against 1.41."),
            Option(
                "The one with σ = 1.06: its analysis is better.",
                False,
                "An analysis does not change the mechanism. Less noise hides less, whoever computes.",
            ),
        ),
    ),
    Question(
        "Your data loader shuffles the people once per epoch and deals them out. You report the ε of Poisson sampling. What is wrong?",
        (
            Option(
                "The ε belongs to a mechanism that did not run.",
                True,
                "Shuffling is another way of sampling. Its ε can be much larger, as section 11 shows: 4.06 at least in place of 0.72. Its exact value is not known.",
            ),
            Option(
                "Nothing: on average everybody is drawn equally often.",
                False,
                "On average, yes. But privacy is about the worst case, and people dealt out once per epoch are not independent.",
            ),
            Option(
                "Only the last, smaller batch of each epoch.",
                False,
                "That is a second slip. The first one is in every batch.",
            ),
        ),
    ),
    Question(
        "In a private training run, which of these tells something about Mia that the ledger does not count?",
        (
            Option(
                "The weights after every step.",
                False,
                "All of them are counted: the theorem is about the whole sequence of noisy steps.",
            ),
            Option(
                "The noise multiplier, the sample rate and the number of steps.",
                False,
                "Here n is public: it counts rows, filled or empty. So these can be chosen without looking at the data, and tell nothing. (Made from a secret number of people, they would tell it.)",
            ),
            Option(
                "The exact training loss, drawn while it runs.",
                True,
                "It is a function of the private data without any noise. Show it to those who may see the data, and publish it to nobody.",
            ),
        ),
    ),
)
