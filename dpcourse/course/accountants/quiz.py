"""The quiz of lesson 06."""

from dpcourse.checking import Option, Question

QUIZ = (
    Question(
        "Two networks, one trained with σ = 1.3 and ε = 1.34 by the moments accountant, the other with σ = 1.06 and ε = 1.34 by the limit; same batches, same 20 epochs. Which is more private?",
        (
            Option(
                "Neither: both have ε = 1.34.",
                False,
                "The two numbers come from two rulers. Measured by one ruler, the exact one, they differ.",
            ),
            Option("The one with σ = 1.3.", True, "More noise, all else equal: exactly ε is 1.01 against 1.41."),
            Option(
                "The one with σ = 1.06: its analysis is better.",
                False,
                "An analysis does not change the mechanism. Less noise hides less, whoever computes.",
            ),
        ),
    ),
    Question(
        "Your data loader shuffles the people once per epoch and deals them out. You report the ε of Poisson sampling. What is wrong?",
        (
            Option(
                "The ε belongs to a mechanism that did not run.",
                True,
                "Shuffling is another way of sampling. Its ε can be much larger, as section 6 shows: 4.06 at least in place of 0.72. Its exact value is not known.",
            ),
            Option(
                "Nothing: on average everybody is drawn equally often.",
                False,
                "On average, yes. But privacy is about the worst case, and people dealt out once per epoch are not independent.",
            ),
            Option(
                "Only the last, smaller batch of each epoch.",
                False,
                "That is a second slip. The first one is in every batch.",
            ),
        ),
    ),
    Question(
        "In a private training run, which of these tells something about Mia that the ledger does not count?",
        (
            Option(
                "The weights after every step.",
                False,
                "All of them are counted: the theorem is about the whole sequence of noisy steps.",
            ),
            Option(
                "The noise multiplier, the sample rate and the number of steps.",
                False,
                "Here n is public: it counts rows, filled or empty. So these can be chosen without looking at the data, and tell nothing. (Made from a secret number of people, they would tell it.)",
            ),
            Option(
                "The exact training loss, drawn while it runs.",
                True,
                "It is a function of the private data without any noise. Show it to those who may see the data, and publish it to nobody.",
            ),
        ),
    ),
    Question(
        "Your accountant tries the whole orders from 2 to 256 only, and finds the best at 2. What may be wrong with its ε?",
        (
            Option(
                "It may be too small: the best order lies outside.",
                False,
                "Every order gives a true bound, so the best of some is one too. It can only be larger than it must.",
            ),
            Option(
                "It may be larger than other orders would give.",
                True,
                "With little noise the best order lies near 2 or below. In the run with σ = 0.5 all orders give 32.36 in place of 34.38.",
            ),
            Option(
                "Nothing: at orders below 2 there is no bound.",
                False,
                "There is one at every order above 1. Only the sum that you wrote needs whole ones.",
            ),
        ),
    ),
    Question(
        "Two runs on the same people have a certified μ of 0.5 each, down to δ₀ = 1e-6. What is proved of both together?",
        (
            Option(
                "δ is at most that of G_μ with μ = 0.71, or at most 1e-6.",
                False,
                "The squares of the μ do add. But each run may have a mishap, and these add, too: 2e-6.",
            ),
            Option(
                "δ is at most that of G_μ with μ = 1, plus 1e-6.",
                False,
                "It is the squares of the μ that add, and not the μ; and there are two mishaps.",
            ),
            Option(
                "δ is at most that of G_μ with μ = 0.71, plus 2e-6.",
                True,
                'The root of 0.25 + 0.25 is 0.707…, and each run may have its mishap. What was "or" for one run is "plus" for several.',
            ),
        ),
    ),
    Question(
        "168 steps are planned, for ε = 3. After 100 the model is good enough on the test part, and you stop. Which ε do you quote?",
        (
            Option(
                "That of 100 steps, for no more were taken.",
                False,
                "It holds for those who meant to take 100 from the start. When you stopped depended on what you saw.",
            ),
            Option(
                "3, as planned.",
                True,
                "The promise was made for all that might have come. A stop that the model itself decides leaves some of it unused, and that is no harm.",
            ),
            Option(
                "More than 3: looking at the model is one more answer.",
                False,
                "The weights of every step are what the promise is about. Looking at them is free.",
            ),
        ),
    ),
    Question(
        "`inspect` finds no fault in the record of a run. What do you know?",
        (
            Option(
                "The run keeps the ε of its ledger.",
                False,
                "Its record fits that. So does the record of a run without clipping, or of one that drew the same people each time.",
            ),
            Option(
                "Each gradient was clipped to R.",
                False,
                "Only that no sum is longer than clipping allows. Gradients partly cancel, so there is much room below that.",
            ),
            Option(
                "The sizes, lengths and noises fit what was claimed.",
                True,
                "That is all a record shows. It finds many mistakes, and proves that none was made only if somebody reads the code.",
            ),
        ),
    ),
    Question(
        "A data set has 100 images of each person. A model is trained with ε = 1 for an image. What is promised to a person?",
        (
            Option(
                "ε = 1, for her images are all in the same data set.",
                False,
                "The promise compares data that differ in one row. Hers differ in a hundred.",
            ),
            Option(
                "Next to nothing; train with a person as the row.",
                True,
                "A hundred rows make 100 μ of μ. Clip the sum of her gradients, and toss one coin for her.",
            ),
            Option(
                "ε = 10: for independent images the squares add.",
                False,
                "Squares of μ add when the *same* row answers several times. Here many rows change at once, and μ itself is multiplied.",
            ),
        ),
    ),
)
