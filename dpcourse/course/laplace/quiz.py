"""The quiz of lesson 02."""

from dpcourse.engine import Option, Question

QUIZ = (
    Question(
        "A query returns the total hours of all rows, where hours are clipped to lie between 0 and 24. What is its l1 sensitivity, if a row is added or removed?",
        (
            Option(
                "1, since one row comes or goes.",
                False,
                "That is the sensitivity of a count. Here the row brings its hours.",
            ),
            Option("24.", True, "One row adds at most 24, and at least 0. The data at hand play no part."),
            Option(
                "The largest number of hours in the table.",
                False,
                "That is the local sensitivity at this table. Noise scaled to it would itself tell about the largest row.",
            ),
        ),
    ),
    Question(
        "You double the number of cells of a private histogram, at the same ε. What happens to the noise in each cell?",
        (
            Option(
                "Nothing. A person is still in one cell.",
                True,
                "The sensitivity is 1 however many cells there are. What gets worse is that the cells are smaller.",
            ),
            Option(
                "Its scale doubles.", False, "It would if a person could be in all cells, as with overlapping counts."
            ),
            Option(
                "It is halved, since each cell holds fewer people.",
                False,
                "The noise hides one person, and one person is as large in a small cell.",
            ),
        ),
    ),
    Question(
        "Laplace noise of scale 10 is added to a count. What is its standard deviation?",
        (
            Option("10", False, "10 is the scale, which is also the expected absolute error."),
            Option("200", False, "That is the variance, 2b²."),
            Option("14.1", True, "The root of the variance 2b² = 200."),
        ),
    ),
    Question(
        "Report noisy max picks one of 1,000 conditions, at ε = 1. How much noise does each count get?",
        (
            Option(
                "Lap(1000), since Mia may have all the conditions.",
                False,
                "That is for releasing all counts. One place tells much less.",
            ),
            Option(
                "Lap(1), as if there were one count.",
                True,
                "The proof moves one threshold by 1, whatever the number of counts.",
            ),
            Option(
                "None: a place is not a number.",
                False,
                "Without noise, one row can decide who leads, and then it shows.",
            ),
        ),
    ),
    Question(
        "And if the noisy maximum is published together with the winner, from the same noise?",
        (
            Option(
                "It is free, since the maximum is noisy anyway.",
                False,
                "A maximum that is very low says that every noisy count was low: up to m times ε.",
            ),
            Option(
                "ε no longer holds. Draw fresh noise for that count, and pay for it.",
                True,
                "A fresh noisy count of the winner costs another ε, by composition.",
            ),
            Option("ε is halved.", False, "More output never protects better."),
        ),
    ),
    Question(
        "A library draws Laplace noise as in the textbook, in doubles, with the right scale, and publishes all 64 bits. What does theorem 3.6 promise for it?",
        (
            Option(
                "ε, because the scale is right.",
                False,
                "The theorem is about real numbers. Here some doubles can come from one neighbour only.",
            ),
            Option(
                "A little more than ε, by rounding errors of 10⁻¹⁶.",
                False,
                "The ratio for an output that only one neighbour can give is infinite, not slightly larger.",
            ),
            Option(
                "Nothing: some outputs rule a neighbour out for certain.",
                True,
                "One such output is enough to break pure ε-DP. Use noise on a grid, sampled with whole numbers.",
            ),
        ),
    ),
)
