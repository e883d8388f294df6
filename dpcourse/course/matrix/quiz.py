"""The quiz of lesson 09."""

from dpcourse.checking import Option, Question

QUIZ = (
    Question(
        "Running counts are released with noise that remembers. Mia came on day 6, and an attacker sees all counts. What does he look at?",
        (
            Option(
                "Count 6 alone: it is the first that holds her.",
                False,
                "It holds the noise of all days before as well. Together with count 5 much of it falls out.",
            ),
            Option(
                "The last count: she is in it, and it is the largest.",
                False,
                "She adds 1 to it as to each since day 6, and its noise is at least as large. Alone it says least.",
            ),
            Option(
                "Whatever combination of all counts has the least noise against what she adds.",
                True,
                "The guarantee is about the whole list. He may undo the decoder and look at C x + z, where the noises are fresh: there she adds column 6 of C.",
            ),
        ),
    ),
    Question(
        "You multiply all entries of the strategy C by 2, keep μ, and make the decoder B half as large. What happens to the error?",
        (
            Option(
                "It stays.",
                True,
                "Mia moves C x twice as far, the noise z is twice as large, and B halves it again.",
            ),
            Option(
                "It is halved: B is smaller.",
                False,
                "B is, but z had to become twice as large, for Mia moves C x twice as far.",
            ),
            Option(
                "It doubles: the sensitivity is twice as large.",
                False,
                "The sensitivity doubles, and B is halved. The error is the product of both.",
            ),
        ),
    ),
    Question(
        "The noise of a training remembers. After step 500 the server writes the noises that it keeps into a log that others can read. What is left of the guarantee?",
        (
            Option(
                "All of it: noise is random, and says nothing of Mia.",
                False,
                "The noise is what hides her. Whoever knows a part of it can subtract that part.",
            ),
            Option(
                "It does not hold any more: known noise can be subtracted from what was released.",
                True,
                "The proof needs z to be secret. What is kept is made of earlier z, so these are known in part, and with them steps that are over.",
            ),
            Option(
                "All of it for steps up to 500, and nothing after.",
                False,
                "It is rather the other way round: the noises kept belong to steps that are over. The fresh z of later steps are not known yet.",
            ),
        ),
    ),
    Question(
        "A stream has 16 steps, and Mia comes once. A colleague says: take the tree, its error grows only like a logarithm. Is he right?",
        (
            Option(
                "No: a logarithm says how an error grows, not how large it is.",
                True,
                "Over 16 steps every block pays for five layers. Fresh noise has the error 2.92 at μ = 1, the tree 3.21, and the square root 1.80.",
            ),
            Option(
                "Yes: a logarithm is always below a root.",
                False,
                "Only from some point on, and then there are constants. Section 2 has both errors at 16 steps.",
            ),
            Option(
                "Yes, but only for sums of steps that are powers of two.",
                False,
                "These sums are one block, and have the least noise of all. The error is over all 16 sums.",
            ),
        ),
    ),
    Question(
        "A training has 20 epochs of 10 steps in a fixed order, and a strategy with 10 bands. You change to 12 bands. What happens to the rule that the sensitivity is √20 times that of one visit?",
        (
            Option(
                "It still holds: two visits lie 10 steps apart, as before.",
                False,
                "They do, but a column now reaches over 12 rows. Columns that are 10 steps apart share two of them.",
            ),
            Option(
                "It becomes √24: the bands are more.",
                False,
                "The number under the root is that of the visits. What changes is that their columns overlap.",
            ),
            Option(
                "It no longer holds: the columns of two visits have rows in common, and what she changes there adds up.",
                True,
                "With coefficients that are not negative the sensitivity is now larger than √20 times that of one visit. It can be computed from the pattern 1, 11, 21, …",
            ),
        ),
    ),
    Question(
        "Why may the batches of DP-FTRL come in a fixed order, while those of DP-SGD by the accountant of lesson 06 may not?",
        (
            Option(
                "The noise of DP-FTRL is larger, which makes up for it.",
                False,
                "Its size follows from the proof. The question is what the proof asks for.",
            ),
            Option(
                "Its proof asks only how often one row comes and how far apart, and for no chance.",
                True,
                "The accountant of lesson 06 counts on coins that the attacker does not know. Here he may know the order: only the noise hides Mia.",
            ),
            Option(
                "Noise that remembers hides the order too.",
                False,
                "It does not need to. The order is public, and whoever knows it knows in which steps Mia's row is used.",
            ),
        ),
    ),
)
