"""The quiz of lesson 08."""

from dpcourse.checking import Option, Question

QUIZ = (
    Question(
        "A library draws Laplace noise as in the textbook, in doubles, with the right scale, and publishes all 64 bits. What does theorem 3.6 of lesson 02 promise for it?",
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
    Question(
        "The count of section 1 is 1 or 0, and the output is 0x1.3c5a7b4d80000p-20. What do you know?",
        (
            Option(
                "Little: Laplace noise near 0 is likely for both counts.",
                False,
                "So it is by its size. But noise near 0 has random last bits, and here the last 19 are 0.",
            ),
            Option(
                "It is nearly certain that the count is 1.",
                True,
                "So near to 0, the sum of 1 and noise always ends in so many zeros. Noise on 0 does once in half a million times.",
            ),
            Option(
                "It is nearly certain that the count is 0, since the output is.",
                False,
                "The size says so, weakly. The bits say the contrary, and far more strongly.",
            ),
        ),
    ),
    Question(
        "A step of training has noise multiplier 8 and a certificate of a small ε. The noise was made in float32 by Box and Muller's formula. Who can tell which data were used?",
        (
            Option(
                "Nobody: the accountant's bound is certified.",
                False,
                "It is certified for Gaussian noise of real numbers. This noise lies on rings.",
            ),
            Option(
                "Only who knows the seed.",
                False,
                "The seed is not needed. The rings are there for every seed.",
            ),
            Option(
                "Who knows two sums that it can be, and takes each of them off.",
                True,
                "The right one leaves points on rings. That takes the data of the others, as the definition allows.",
            ),
        ),
    ),
    Question(
        "Entries lie between 0 and 1. Their sum is computed in float32, and it gets Laplace noise of scale 1/ε. What is right?",
        (
            Option(
                "The sensitivity is 1, so ε holds but for the low bits.",
                False,
                "1 is the sensitivity of the sum of real numbers. The sum that is computed is rounded many times.",
            ),
            Option(
                "One row may move the computed sum by more than 1, and then more than ε is spent.",
                True,
                "Rounding after each addition may go up with her row, and down without it. Noise must cover the change of what is computed.",
            ),
            Option(
                "Rounding only makes changes smaller: large sums swallow small rows.",
                False,
                "It does that too: a counter in float32 stands still at 2^24. But with other rows a change grows.",
            ),
        ),
    ),
    Question(
        "A program seeds its generator with the time in seconds and publishes counts with noise. Why is that worse than a long secret seed?",
        (
            Option(
                "The noise is smaller.",
                False,
                "It has the right law. What is wrong is that others can compute it.",
            ),
            Option(
                "There are few seeds, and each can be tried: the right one leaves a whole number.",
                True,
                "A day has fewer than 100,000 seconds.",
            ),
            Option(
                "Two releases in one second get different noise.",
                False,
                "They get the same noise, which is one more leak: the difference of the two is exact.",
            ),
        ),
    ),
    Question(
        "An observer sees how long each release took, but no output. The sampler goes one step for each unit of noise. What does she learn about Mia?",
        (
            Option(
                "Nothing, as long as she sees no output: the noise does not depend on the data.",
                True,
                "The time tells the size of the noise. Only together with the output this tells the count.",
            ),
            Option(
                "Whether Mia is in, since a count of one more takes one step more.",
                False,
                "The sampler makes the noise, and knows nothing of the count.",
            ),
            Option(
                "The count, up to its sign.",
                False,
                "It is the noise whose size she learns, not the count.",
            ),
        ),
    ),
    Question(
        "Somebody rounds the output of textbook Laplace noise to whole numbers before it is published. Is the leak mended?",
        (
            Option(
                "Yes: the low bits are gone.",
                False,
                "Many leaks are harder to use then. But no theorem says that the rounded number is ε-DP: the noise had the wrong law before.",
            ),
            Option(
                "No proof says so. Noise that is drawn as whole numbers has one.",
                True,
                "Rounding is post-processing, and keeps a promise that was there. Here none was.",
            ),
            Option(
                "No: rounding adds 1 to the sensitivity.",
                False,
                "What is done to an output afterwards changes no sensitivity.",
            ),
        ),
    ),
    Question(
        "Discrete Gaussian noise with σ² = 4 is added to a count. Which statement is proved?",
        (
            Option(
                "It is exactly 1/2-GDP.",
                False,
                "At the corner in the middle of its curve the μ is a little above 1/σ.",
            ),
            Option(
                "It is ε-DP for some ε with δ = 0.",
                False,
                "Far out the ratio of two probabilities passes every bound, as with all Gaussian noise.",
            ),
            Option(
                "Its Rényi divergences are at most those of Gaussian noise with σ = 2.",
                True,
                "So bounds that begin with these hold for it. Its δ at a given ε is a sum of its own.",
            ),
        ),
    ),
)
