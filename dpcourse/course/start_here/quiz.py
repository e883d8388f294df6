"""The quiz of lesson 00."""

from dpcourse.checking import Option, Question

QUIZ = (
    Question(
        "Mia answers a survey by randomized response with ε = 1, and her report is “yes”. What does the report prove?",
        (
            Option(
                "That Mia's true answer is yes.",
                False,
                "A report of yes comes from a true no as well, with chance 0.27.",
            ),
            Option(
                "Nothing: whatever was likely before is as likely now.",
                False,
                "Yes became more likely. Its odds grew by the factor e = 2.72, which is what ε = 1 allows.",
            ),
            Option(
                "Nothing for certain, but the odds of yes are now e times what they were.",
                True,
                "The odds are multiplied by p / (1 - p) = e^ε. No report can move them further.",
            ),
        ),
    ),
    Question(
        "A club publishes how many of its members smoke, with noise, and the exact number of its members. It promises ε-differential privacy for adding or removing a row. What is wrong?",
        (
            Option(
                "Nothing: the number of members says nothing about who smokes.",
                False,
                "The promise was about a row that is there or not. Whether Mia is a member at all is then a secret, and the exact number of members tells it.",
            ),
            Option(
                "The noise has to be made for each member, not for the count.",
                False,
                "Noise on the count can be enough. Look at what is published without any noise.",
            ),
            Option(
                "The number of members has no noise, and it changes when Mia's row is removed.",
                True,
                "One data set has one row more, so the exact number gives it away for certain. If only the answers are secret, say that neighbours differ by an answer replaced.",
            ),
        ),
    ),
    Question(
        "A hospital publishes the exact number of its patients with flu, every day. Is there an ε for which that is ε-differentially private?",
        (
            Option(
                "Yes, because only a number is published, no names.",
                False,
                "If you know everyone but Mia, the exact number tells you about Mia, and no bound on a ratio holds.",
            ),
            Option(
                "No, for no ε.",
                True,
                "If Mia has flu, the same number has probability 0 without her. A ratio of 1 to 0 is not bounded by any e^ε.",
            ),
            Option(
                "Yes, if there are many patients.",
                False,
                "However many there are, adding one person with flu changes an exact count for certain.",
            ),
        ),
    ),
    Question(
        "You want the standard error of a survey by randomized response to be half as large, at the same ε. What do you need?",
        (
            Option("Twice as many people.", False, "The error falls with the square root of the number of people."),
            Option("Four times as many people.", True, "The error is a constant over √n."),
            Option(
                "Nothing helps: the answers are lies.",
                False,
                "The lies have a known frequency, so they cancel out on average.",
            ),
        ),
    ),
    Question(
        "6,366 women report by randomized response, each with ε = 1 and a coin of her own. All reports are published. Which ε does the whole list have for Mia?",
        (
            Option(
                "1.",
                True,
                "In the ratio of the two probabilities of the list only Mia's own factor is left. What is computed from the list has the same ε.",
            ),
            Option(
                "6,366.",
                False,
                "That would be so if each report were about Mia. Hers is one of them; the factors of all others are the same on both data sets, and cancel.",
            ),
            Option(
                "Less than 1, since she is hidden in the crowd.",
                False,
                "Her report stands in the list under her name, as private as it was alone. The crowd helps the average, not her.",
            ),
        ),
    ),
    Question(
        "A survey of 20 people by randomized response gives the estimate -0.04 for the share of yes. What do you do with it, if the mean of many such surveys is to be right?",
        (
            Option(
                "Report 0, since no share is negative.",
                False,
                "Alone it would be nearer to the truth. But estimates that are too low are raised and those that are too high are not, so the mean of many comes out too high.",
            ),
            Option(
                "Report -0.04.",
                True,
                "The estimate is right on average only if nothing is cut off. That it may be negative is the price of few people and much noise.",
            ),
            Option(
                "Ask the 20 people again until it is positive.",
                False,
                "Each time they answer, their budgets are spent once more, and what is chosen by its result is not right on average either.",
            ),
        ),
    ),
)
