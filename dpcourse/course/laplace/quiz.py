"""The quiz of lesson 02."""

from dpcourse.checking import Option, Question

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
                "Its scale grows by the root of 2: the l2 norm has twice as many entries.",
                False,
                "Only one entry changes, by 1, so both norms of the change are 1 however many cells there are.",
            ),
        ),
    ),
    Question(
        "Ages are clipped to lie between 0 and 40, and their sum gets Laplace noise. The clip is raised to 80. What happens?",
        (
            Option(
                "Bias and noise both fall, since fewer entries are cut.",
                False,
                "The bias falls. But one person may now add 80, so the noise doubles.",
            ),
            Option(
                "The bias falls, and the scale of the noise doubles.",
                True,
                "Fewer entries are cut, and one person can change the sum by twice as much.",
            ),
            Option(
                "The noise stays as it is, if nobody is older than 40.",
                False,
                "Noise is scaled to what the clip allows, not to who is in the table.",
            ),
        ),
    ),
    Question(
        "A survey asks 30 yes/no questions, and each person may answer at most 4 of them. All 30 counts of yes are published, with Laplace noise at ε in all. What is the scale on each?",
        (
            Option(
                "30/ε, as there are 30 counts.",
                False,
                "That would be needed if one person could be in all of them. Here she is in 4 at most.",
            ),
            Option("4/ε", True, "She changes at most 4 counts by 1 each: an l1 distance of 4."),
            Option(
                "2/ε, the root of 4.",
                False,
                "That is the l2 distance, which Gaussian noise is scaled to. Laplace noise needs l1, where the changes are added up.",
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
        "A table has 1,000 counts, and with probability 95 % all of them are off by less than 10. Now 2,000 counts get the same noise. By theorem 3.8, how far off is the worst of them?",
        (
            Option(
                "By less than 20: twice as many counts, twice the error.",
                False,
                "The number of counts stands inside a logarithm.",
            ),
            Option(
                "By a little more than 10: the bound grows by ln 2 scales.",
                True,
                "The bound is ln(k/γ) scales, and ln(2k/γ) = ln(k/γ) + ln 2.",
            ),
            Option(
                "By less than 10 as before: each count has the same noise.",
                False,
                "Each has, but the worst of more noises tends to be larger.",
            ),
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
            Option(
                "It costs another ε, 2ε in all, as two answers from the same table.",
                False,
                "Composition needs a noise of its own for each answer. From the same noise, it can be as much as m times ε.",
            ),
        ),
    ),
)
