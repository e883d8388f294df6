"""The quiz of lesson 10."""

from dpcourse.checking import Option, Question

QUIZ = (
    Question(
        "A service claims ε = 1 for each day of a user, with δ = 0. Another claims ε = 9 for a user, once and for all. Which promises more to somebody who uses it for a month?",
        (
            Option(
                "The first: its ε is smaller.",
                False,
                "Its ε is that of a day. The two numbers speak of different units.",
            ),
            Option(
                "The second: after ten days the first has passed it.",
                True,
                "With δ = 0 nothing less than 1 for each day holds for every such program, and a month has thirty. A small δ would make it a little less, and not 9.",
            ),
            Option(
                "That cannot be said without a δ.",
                False,
                "With δ = 0 the days just add up. What must be the same for a comparison is the unit, and it can be made the same.",
            ),
        ),
    ),
    Question(
        "ε = 2 at δ = 10⁻⁶, for a row. Mia has ten rows, and the noise is not known to be Gaussian. What is promised to her?",
        (
            Option(
                "ε = 20 at δ = 10⁻⁵.",
                False,
                "The ε is right. But the δ of the later rows are multiplied on their way through the earlier ones.",
            ),
            Option(
                "ε = 2: the promise is for everybody.",
                False,
                "It is for every row. She has ten, and all of them may change at once.",
            ),
            Option(
                "Nothing that is worth the name.",
                True,
                "ε = 20, and a δ that comes out above 1. If the curve is known, so is something better; from the pair alone hardly anything is.",
            ),
        ),
    ),
    Question(
        "A model was trained on a million rows. Its report says δ = 10⁻⁶. What do you ask?",
        (
            Option(
                "Whether δ should not be much smaller: a program that publishes one whole row keeps it.",
                True,
                "δ times the rows is 1. That alone is no proof that something is wrong, but this promise would not exclude it.",
            ),
            Option(
                "Nothing: a millionth is small.",
                False,
                "It is small for one row. Of a million rows one is given away.",
            ),
            Option(
                "Whether δ could be 0.",
                False,
                "With Gaussian noise it cannot. The question is how far below one in a million it is.",
            ),
        ),
    ),
    Question(
        "120 steps were planned. After 70 steps somebody saw the training loss rise, and stopped. Which ε may be reported?",
        (
            Option(
                "That of the 70 steps: no more were taken.",
                False,
                "That holds for those who meant to take 70 from the start.",
            ),
            Option(
                "That of the 120 steps, as planned.",
                False,
                "It would be, had the model itself, or its test score, decided. The training loss is computed from the data without noise.",
            ),
            Option(
                "None is proved.",
                True,
                "The number of steps is public now, and it was made from the data without any noise.",
            ),
        ),
    ),
    Question(
        "An audit chose the best of a thousand thresholds on 500 runs, and counted its errors on the same 500. What does its 95 % mean?",
        (
            Option(
                "That the bound holds in 95 of 100 such audits.",
                False,
                "It would, had the threshold been fixed before. The best of a thousand looks better on these runs than it is.",
            ),
            Option(
                "Little: the runs that chose the threshold must not be counted.",
                True,
                "Choose on some runs, and count on others. Or pay for the look, as in lesson 07.",
            ),
            Option(
                "That the program keeps its promise with probability 95 %.",
                False,
                "No audit says that a promise is kept.",
            ),
        ),
    ),
    Question(
        'A report says: "An audit found μ ≥ 0.2. The model is therefore 0.2-GDP." What is wrong?',
        (
            Option(
                "Nothing, if the audit's confidence is high.",
                False,
                "The more confident, the surer that μ is at least 0.2. That it is at most so much nobody has shown.",
            ),
            Option(
                "The number should be an ε.",
                False,
                "A μ says more than an ε. What is wrong is the direction.",
            ),
            Option(
                "A lower bound is sold as an upper one.",
                True,
                "What an audit finds is the least that leaks. The promise is what a proof says, and that number is missing.",
            ),
        ),
    ),
)
