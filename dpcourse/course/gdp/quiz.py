"""The quiz of lesson 03."""

from dpcourse.checking import Option, Question

QUIZ = (
    Question(
        "A tester says “Mia is in” for 30% of the tables without her, and for 80% of the tables with her. What are α and β?",
        (
            Option(
                "α = 0.8, β = 0.3",
                False,
                "0.8 is how often the tester finds Mia, which is 1 - β. α is the false alarm, 0.3.",
            ),
            Option(
                "α = 0.3, β = 0.8",
                False,
                "α is right. β is the share of tables with Mia that the tester misses: 1 - 0.8.",
            ),
            Option(
                "α = 0.3, β = 0.2",
                True,
                "A false alarm in 30% of the tables without her, a miss in 20% of those with her. So TV is at least 0.5.",
            ),
        ),
    ),
    Question(
        "Two curves are symmetric. f is never below h, and somewhere above it. Which promise is stronger?",
        (
            Option(
                "f-DP.", True, "A higher curve leaves every tester with larger errors. Whatever is f-DP is also h-DP."
            ),
            Option("h-DP.", False, "A lower curve means smaller errors for the tester, so less privacy."),
            Option("That depends on α.", False, "It would if the curves crossed. Here f is nowhere the lower one."),
        ),
    ),
    Question(
        "A mechanism prints Mia's row with probability 0.001, and nothing otherwise. For which μ is it μ-GDP?",
        (
            Option(
                "For a small one, about 0.001.",
                False,
                "Its curve starts at 0.999. G_μ starts at 1, whatever μ is, so the curve lies below it near α = 0.",
            ),
            Option(
                "For none.",
                True,
                "Its curve starts below 1, every G_μ starts at 1. Gaussian noise never gives anybody away for certain.",
            ),
            Option(
                "For every μ.", False, "Then it would be perfectly private. But once in a thousand times it tells all."
            ),
        ),
    ),
    Question(
        "A Gaussian mechanism has σ = 10 and sensitivity 5. What is its μ?",
        (
            Option(
                "μ = 0.05",
                False,
                "That is 5/10²: you divided by the variance. μ is sensitivity over the standard deviation.",
            ),
            Option("μ = 2", False, "That is σ over the sensitivity. More noise must give a smaller μ."),
            Option("μ = 0.5", True, "μ = sensitivity / σ = 5/10: the means lie half a standard deviation apart."),
        ),
    ),
    Question(
        "Somebody shows that a mechanism is (1, δ)-DP with the δ(1) of μ = 1. Is it 1-GDP?",
        (
            Option(
                "Not necessarily.",
                True,
                "One pair (ε, δ) gives two lines below the curve. For 1-GDP the pair (ε, δ(ε)) must hold for every ε ≥ 0.",
            ),
            Option(
                "Yes, the formula goes both ways.",
                False,
                "It does if the pairs hold for all ε ≥ 0 together. One of them is not enough.",
            ),
            Option(
                "No, never.",
                False,
                "A mechanism that is 1-GDP satisfies this pair too. The pair just does not prove it.",
            ),
        ),
    ),
    Question(
        "A mechanism is 0.5-GDP for one person. What does it promise to a family of four?",
        (
            Option(
                "1-GDP",
                False,
                "That is 0.5 · √4. The root is for four independent answers about one person. Four people may push one answer the same way.",
            ),
            Option(
                "2-GDP",
                True,
                "k μ = 4 · 0.5. All four may push the answer the same way, so the means move four times as far apart.",
            ),
            Option(
                "0.5-GDP",
                False,
                "Each one of them is protected so. Together they may change the answer four times as much.",
            ),
        ),
    ),
    Question(
        "You round a noisy count to the nearest ten before you publish it. What happens to its curve?",
        (
            Option(
                "It stays exactly the same.",
                False,
                "It may rise, and it never falls. Rounding throws something away, and a tester who sees less cannot err less.",
            ),
            Option(
                "It rises or stays, so the promise still holds.",
                True,
                "Every test of the rounded count is also a test of the count itself. This is post-processing.",
            ),
            Option(
                "It falls, because rounding moves the count.",
                False,
                "Rounding moves the count with and without Mia by the same rule, without looking at her row.",
            ),
        ),
    ),
    Question(
        "Your program says that at μ = 1 the δ of ε = 10 is 0.0. What follows?",
        (
            Option(
                "A tail was taken as 1 - Φ(x), and rounded away.",
                True,
                "Near 1 a float has a spacing of about 1e-16, and this δ is smaller. With Φ(-x) it is seen; for Gaussian noise no δ is 0.",
            ),
            Option(
                "At μ = 1, Gaussian noise is 10-DP, without any δ.",
                False,
                "No Gaussian noise is: its likelihood ratio passes every bound, so some δ is left at every ε.",
            ),
            Option(
                "ε = 10 is too large for the formula, which needs ε < 1.",
                False,
                "The classic formula for the noise needs that. δ(ε) is exact at every ε ≥ 0; it is the code that loses the digits.",
            ),
        ),
    ),
    Question(
        "f is not symmetric. T(P, Q) ≥ f is proved for one order of the neighbours: P without Mia, Q with her. What follows?",
        (
            Option(
                "T(P, Q) ≥ max{f, f⁻¹}.",
                False,
                "For that the other order must be proved too: T(Q, P) ≥ f. One order says nothing of f⁻¹ here.",
            ),
            Option(
                "T(Q, P) ≥ f.",
                False,
                "Exchanging P and Q exchanges the axes. If f falls faster on one side, the other order may be below f.",
            ),
            Option(
                "T(Q, P) ≥ f⁻¹.",
                True,
                "A miss becomes a false alarm and the other way round, so the curve of the other order is the inverse.",
            ),
        ),
    ),
    Question(
        "The test with the smallest α + β lies above G_μ. Can the claim of μ-GDP still be false?",
        (
            Option(
                "Yes, another test may lie below.",
                True,
                "The claim must hold at every level α. A test with few false alarms may pierce the curve near its end, for instance where a rare output tells all.",
            ),
            Option(
                "No, this test is the best one, so all others lie above too.",
                False,
                "It is best for the sum only. At a smaller α another test may be far better than G_μ allows.",
            ),
            Option(
                "No, unless the curve of the mechanism is not convex.",
                False,
                "Every trade-off function is convex, and still it may cross G_μ near an end and not in the middle.",
            ),
        ),
    ),
)
