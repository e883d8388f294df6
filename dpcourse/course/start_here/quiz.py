"""The quiz of lesson 00."""

from dpcourse.engine import Option, Question

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
        "Which mechanism protects best?",
        (
            Option(
                "The one with ε = 0.1.", True, "A smaller ε lets one person change the chances of every output less."
            ),
            Option(
                "The one with ε = 10.",
                False,
                "e^10 is about 22,000: one person may make an output 22,000 times as likely.",
            ),
            Option(
                "Both the same, if the noise is random.",
                False,
                "Randomness is needed, but ε says how much of it there is. With ε = 10 nearly every report is true.",
            ),
        ),
    ),
    Question(
        "A hospital publishes the exact number of its patients with flu, every day. Is that ε-DP for some ε?",
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
        "A check says “not yet”. Which statement is right?",
        (
            Option("I have used up my try.", False, "Try as often as you like; the inputs are drawn anew each time."),
            Option(
                "The message names my mistake if it is a known one, and hint() goes further.",
                True,
                "Message first, then hints one by one, then the solution if you are sure.",
            ),
            Option(
                "I can pass by returning the value that the message shows.", False, "The next check uses other inputs."
            ),
        ),
    ),
)
