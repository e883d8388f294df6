"""The quiz of lesson 01."""

from dpcourse.engine import Option, Question

QUIZ = (
    Question(
        "A clinic answers 10 questions about all of its patients, each with ε = 0.2. What does it guarantee, by sequential composition?",
        (
            Option(
                "ε = 0.2",
                False,
                "That would be parallel composition: every answer about other people. These are about the same ones.",
            ),
            Option("ε = 2", True, "Ten times 0.2. The likelihood ratios multiply, so the epsilons add."),
            Option(
                "ε = 0.63",
                False,
                "That is 0.2 · √10. A root appears only with a δ above 0, and with constants in front of it.",
            ),
        ),
    ),
    Question(
        "The same clinic asks one question with ε = 0.2 in each of its 10 wards. Every patient lies in one ward. What does it guarantee?",
        (
            Option(
                "ε = 2",
                False,
                "Sequential composition holds too, but it is far from tight: nine of the answers do not touch Mia.",
            ),
            Option("ε = 0.02", False, "Splitting does not add protection. Mia's ward is still asked with ε = 0.2."),
            Option("ε = 0.2", True, "One patient added or removed changes one ward only."),
        ),
    ),
    Question(
        "Each of these ε = 0.2 is for one patient added or removed. What is guaranteed if neighbours differ by one patient replaced, where the new one may lie in another ward?",
        (
            Option(
                "Still ε = 0.2.", False, "Now two wards change: the one that was left and the one that was entered."
            ),
            Option(
                "ε = 0.4",
                True,
                "Two wards change: one patient is removed and one added, and each costs 0.2. Parallel composition depends on what a neighbour is.",
            ),
            Option("ε = 2", False, "Two of the ten wards change, not all."),
        ),
    ),
    Question(
        "An attacker has a second data set with names in it and links it with the private answers. What happens to ε?",
        (
            Option(
                "It stays.",
                True,
                "Linking is post-processing: a computation on the answers that does not look at the data again.",
            ),
            Option(
                "It grows with what the attacker knows.",
                False,
                "ε belongs to the mechanism. For an attacker who knows all rows but Mia's it bounds the factor on his odds, and what he knew is in the odds before.",
            ),
            Option(
                "It is void: DP assumes an attacker who knows nothing.",
                False,
                "The other way round: ε is a bound for an attacker who knows the program and all other rows. What he must not know are the coins.",
            ),
        ),
    ),
    Question(
        "In advanced composition, what is δ′?",
        (
            Option(
                "The chance that we let the total loss pass ε′.",
                True,
                "You choose it. A smaller δ′ costs a larger ε′, by √ln(1/δ′).",
            ),
            Option("The δ of one answer.", False, "That is δ. It enters as kδ."),
            Option(
                "A constant, 10⁻⁵.",
                False,
                "It is often set so, but it is yours to choose, well below one over the number of people.",
            ),
        ),
    ),
    Question(
        "You answer 5 questions with ε = 0.1 each and want δ′ = 10⁻⁶. Which bound is smaller?",
        (
            Option("Basic.", True, "Basic gives 0.5. Advanced needs k above 34 here."),
            Option(
                "Advanced, as always.",
                False,
                "Advanced has √(2 ln 10⁶) = 5.3 in front of √k. With k = 5 it gives 1.23.",
            ),
            Option(
                "They agree.", False, "They cross between k = 34 and k = 35, so they agree at no number of questions."
            ),
        ),
    ),
)
