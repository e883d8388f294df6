"""The quiz of lesson 01."""

from dpcourse.checking import Option, Question

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
    Question(
        "An attacker who knows all other rows gives Mia's yes a probability of 0.1. Then he sees an answer with e^ε = 2, where neighbours differ in her answer. What can he believe at most?",
        (
            Option("0.20", False, "That is the belief, doubled. It is the odds that are multiplied."),
            Option("0.67", False, "That is for somebody who began with even odds: 2 to 1."),
            Option("0.18", True, "Odds of 1 to 9 become at most 2 to 9, and 2/11 is 0.18."),
        ),
    ),
    Question(
        "A mechanism for the 10,000 patients of a clinic is (0.5, 0.001)-DP. What is the worst of these that it may do?",
        (
            Option(
                "Keep to ε = 0.5 for everybody, except that once in 1000 times it tells one patient's row.",
                False,
                "It may, but it may do far worse: the 0.001 is for each patient, not for all of them together.",
            ),
            Option(
                "Print the rows of 10 patients.",
                True,
                "It may pick each patient with probability 0.001 and print who was picked. That is why δ has to be far below 1/n.",
            ),
            Option(
                "Multiply the odds on a patient by e^0.501, and by no more.",
                False,
                "δ is no part of the factor. With probability up to δ the factor has no bound at all.",
            ),
        ),
    ),
    Question(
        "An analyst chooses his second question after he has seen the first answer. What must hold so that both cost ε₁ + ε₂?",
        (
            Option(
                "The second mechanism is ε₂-DP whatever the first answer was.",
                True,
                "Given the first answer the second has coins of its own, so the probabilities multiply. That is adaptive composition.",
            ),
            Option(
                "The second mechanism is ε₂-DP on average over the first answers.",
                False,
                "Then a first answer that seldom comes may lead to a question that tells everything. The definition speaks of every output.",
            ),
            Option(
                "Nothing will do: for chosen questions the answers are not independent, so the epsilons do not add.",
                False,
                "The answers depend on each other, the coins do not. Given the first answer the proof goes through.",
            ),
        ),
    ),
    Question(
        "200 counts were published with Laplace noise, each with ε = 0.1. For δ = 10⁻⁵ optimal composition gives ε = 6.52. What does this say of the 200 counts?",
        (
            Option(
                "6.52 is their exact ε at this δ.",
                False,
                "It is exact for randomized response. Laplace noise with ε = 0.1 often tells less than that.",
            ),
            Option(
                "Nothing: the formula is for randomized response.",
                False,
                "Every answer that is ε-DP can be got from randomized response by post-processing. So its bound is one for all.",
            ),
            Option(
                "They are (6.52, 10⁻⁵)-DP, and perhaps better.",
                True,
                "Of all mechanisms with ε = 0.1 randomized response is the worst. Who knows more than ε may find a smaller number.",
            ),
        ),
    ),
)
