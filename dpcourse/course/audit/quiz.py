"""The quiz of lesson 07."""

from dpcourse.checking import Option, Question

QUIZ = (
    Question(
        "A mechanism is promised to be 1-GDP. An attack on 200 runs each has the shares of errors (0.10, 0.40), and G₁(0.10) = 0.61. Is the promise broken?",
        (
            Option(
                "Yes: the point (0.10, 0.40) lies below the curve.",
                False,
                "It lies below, but it is a point from 200 runs. What counts is whether its bounds lie below.",
            ),
            Option(
                "That takes upper bounds on both rates.",
                True,
                "With 95 % confidence the bounds are about (0.15, 0.47), and G₁(0.15) = 0.51. So here they do refute it, but only they can say so.",
            ),
            Option(
                "No: no attack can refute a proof.",
                False,
                "It cannot refute the proof, but it can refute that this program is what the proof speaks of.",
            ),
        ),
    ),
    Question(
        "An audit of the best attacks you know gives μ at least 0.3, with 95 % confidence. What do you tell the press office?",
        (
            Option(
                "The mechanism is 0.3-GDP, with a confidence of 95 %, and no attack that we know says more.",
                False,
                "That would be an upper bound on what it leaks. You have a lower one: a better attack may find more.",
            ),
            Option(
                "With 95 % probability its μ is 0.3.",
                False,
                "The bound says that μ is hardly less. How much more it is, nobody knows from this.",
            ),
            Option(
                "It leaks that much at least; how much at most, only a proof can say.",
                True,
                "Lower bounds come from attacks, upper bounds from proofs. The truth is in between.",
            ),
        ),
    ),
    Question(
        "You try twenty attacks on the same scores and report the one with the best bound, at 95 % confidence. What is that bound worth?",
        (
            Option(
                "It holds if each attack had a twentieth of the risk.",
                True,
                "Then all twenty hold at once with 95 % confidence, and you may choose among them after a look.",
            ),
            Option(
                "It holds with 95 % confidence, as each of the twenty bounds does.",
                False,
                "Each single one would. That the best of twenty holds is another statement.",
            ),
            Option(
                "Nothing: scores that were looked at once prove nothing any more.",
                False,
                "One may, if one pays for it: share the risk out, or choose on other runs than those that decide.",
            ),
        ),
    ),
    Question(
        "Which canary belongs in an audit of a sum of vectors that are clipped to R?",
        (
            Option(
                "One that looks like a typical person, for the promise is about people.",
                False,
                "The promise is for every person, also the most unusual. A typical one hides among the others.",
            ),
            Option(
                "One longer than R, in a direction of its own.",
                True,
                "It moves the sum by the full R where nothing else moves, and it shows whether clipping happens at all.",
            ),
            Option(
                "A copy of Mia: two rows in her direction move the sum twice as far.",
                False,
                "A copy points where Mia points. A direction of its own and full length make the best of one person.",
            ),
        ),
    ),
    Question(
        "Five hundred canaries toss coins, one model is trained, and you guess for each of them. 300 guesses are right. What helps to prove more?",
        (
            Option(
                "Guess only for those whose scores are extreme.",
                True,
                "Abstaining is free: for pure ε-DP the number may even depend on the scores, though never on which guesses were right. Fewer guesses of which nearly all are right prove more than many of which 60 % are.",
            ),
            Option(
                "Guess for all, for every guess is a datum.",
                False,
                "Guesses that are hardly better than a coin's pull the share down. 300 right of 500 prove an ε of 0.25 only; 63 right of the 70 surest would prove 1.5.",
            ),
            Option(
                "Train again with the same coins.",
                False,
                "That is a second run, which you wanted to save. And the guesses would concern the same coins.",
            ),
        ),
    ),
    Question(
        "Ten million audits found nothing. A mechanism publishes all of its data with probability 10⁻⁹, and otherwise adds good noise. Is it private?",
        (
            Option(
                "Yes, as far as anybody can tell.",
                False,
                "Whoever reads the code can tell. An audit only sees what happens in its runs.",
            ),
            Option(
                "No: an audit with more confidence would have found it.",
                False,
                "Confidence is about the risk of a false accusation. It does not make rare events frequent.",
            ),
            Option(
                "With δ = 10⁻⁹ perhaps; no audit of that size could tell.",
                True,
                "It would take some billions of runs to see it once. A proof speaks of all outputs, seen or not.",
            ),
        ),
    ),
    Question(
        "The laws of an attack's scores are known. With the exact rates its ε is 4.8; 150 trainings prove 0.6, and 6.2 is certified for the whole path. What explains which gap?",
        (
            Option(
                "From 0.6 to 4.8: few trainings. From 4.8 to 6.2: what this attack does not see.",
                True,
                "The exact rates are what this attack would show after endlessly many trainings. What is above them only another attack can show.",
            ),
            Option(
                "From 0.6 to 4.8: a weak attack. From 4.8 to 6.2: few trainings, which a longer audit makes up for.",
                False,
                "It is the other way round. The exact rates belong to this very attack, with endlessly many trainings.",
            ),
            Option(
                "Both: the accountant is too careful, and an exact one would certify 0.6.",
                False,
                "An attack that has an exact ε of 4.8 exists, so nobody can certify less than that.",
            ),
        ),
    ),
    Question(
        "A program publishes a noisy sum, divided by the number of people in the data, which it keeps to itself. Is the division post-processing?",
        (
            Option(
                "Yes: whatever is done to a private sum afterwards costs no more privacy.",
                False,
                "What is done afterwards must not look at the data again. The number of people is in the data.",
            ),
            Option(
                "No: the divisor is made from the data, and the size of the noise gives it away.",
                True,
                "Divide by a number that everybody knows, or publish a noisy count and pay for it.",
            ),
            Option(
                "It is, if the noise is added before the division and not after it.",
                False,
                "Then the noise is divided as well, and its size tells how many there are.",
            ),
        ),
    ),
)
