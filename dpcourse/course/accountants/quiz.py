"""The quiz of lesson 06."""

from dpcourse.engine import Option, Question

QUIZ = (
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
                "Shuffling is another way of sampling. Its ε can be much larger, as section 6 shows: 4.06 at least in place of 0.72. Its exact value is not known.",
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
