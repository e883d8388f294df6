"""The quiz of lesson 05."""

from dpcourse.checking import Option, Question

QUIZ = (
    Question(
        "You halve the clip norm R and leave the noise multiplier σ as it is. What becomes of the guarantee of a step?",
        (
            Option(
                "It becomes twice as good: each person can do half as much.",
                False,
                "Each can do half as much, and the noise σR is half as large as well. What counts is one in units of the other.",
            ),
            Option(
                "It becomes worse: the noise is half as large.",
                False,
                "It is, and so is the most that one person adds. Only their ratio counts.",
            ),
            Option(
                "It stays.",
                True,
                "Sensitivity R and noise σR shrink together: G with parameter 1/σ. What changes is the bias of clipping and the size of the noise in the weights.",
            ),
        ),
    ),
    Question(
        "Which number may the noisy sum be divided by?",
        (
            Option(
                "The number of people drawn: that makes it a mean.",
                False,
                "It is secret: it counts filled rows only, so it changes with Mia, and it may be 0. The noise was made for the sum, not for this quotient.",
            ),
            Option(
                "Any public number, such as p·n: n counts rows, filled or empty.",
                True,
                "Dividing by a public number is post-processing. It changes the learning rate, not the privacy. (If rows come and go and n is secret, p·n is no such number: the size of the noise would tell n.)",
            ),
            Option(
                "None: dividing makes the noise smaller, and the privacy worse.",
                False,
                "It makes the sum smaller in the same proportion. What counts is the noise relative to what Mia can change.",
            ),
        ),
    ),
    Question(
        "A coin was tossed for everybody, and the batch is empty. What should the program do?",
        (
            Option(
                "Toss again, until somebody is in it.",
                False,
                "Then a person's chance to be drawn depends on how many others were. The lemma is about coins as they fall.",
            ),
            Option(
                "Leave the weights as they are; nobody's data were used.",
                False,
                "Weights that stay as they are say that Mia was not drawn. With her in the batch they would have moved.",
            ),
            Option(
                "Take the step with noise alone, and pay for it.",
                True,
                "The noise hides whether anybody was there. An empty batch is one of those that the mixture averages over.",
            ),
        ),
    ),
    Question(
        "A data loader shuffles 1,500 images and deals them out in ten batches of 150. May its steps be accounted for by f_p with p = 0.1?",
        (
            Option(
                "No, not even if it shuffles anew before each epoch.",
                True,
                "Whoever is in one batch is in no other of the epoch: batches depend on each other. The lemma needs a coin for each person in each step. It is another mechanism, and it may cost far more.",
            ),
            Option(
                "Yes: everybody is in one batch of ten, which is p = 0.1.",
                False,
                "On average, yes. But privacy asks about the whole law: here batches know of each other, and by coins they do not.",
            ),
            Option(
                "Yes, if the order is kept secret.",
                False,
                "The coins must be secret too. That does not make the dealt batches independent.",
            ),
        ),
    ),
    Question(
        "A colleague replaces SGD by Adam, feeding it the same noisy gradients. What does that cost?",
        (
            Option(
                "Nothing.",
                True,
                "Adam only computes with what is already noisy: post-processing. That the next gradients depend on its weights is what composition allows.",
            ),
            Option(
                "Twice the budget, for two moments are kept.",
                False,
                "Both moments are functions of the same noisy gradients. Nothing new is asked of the data.",
            ),
            Option(
                "It depends on β₁ and β₂.",
                False,
                "Whatever the βs are, they never touch the data. They change how well it learns.",
            ),
        ),
    ),
    Question(
        "After a run a log file is found with the coins of all rows, filled or empty. What is left of the guarantee for Mia, if her row was drawn in 150 of 1,500 steps?",
        (
            Option(
                "Everything: which rows were drawn is no personal data.",
                False,
                "The lemma's mixture is the tester's ignorance of the coins. With the file it is gone.",
            ),
            Option(
                "That of 150 steps with G of parameter 1/σ each.",
                True,
                "In each of these the tester knows that her row was drawn, and only the noise hides whether it was filled. Coins are secrets, like the noise.",
            ),
            Option(
                "Nothing at all.",
                False,
                "The noise is still there: it hides in each of the 150 steps whether her row was filled, though without what the coins had added.",
            ),
        ),
    ),
    Question(
        "Mia is in a batch with probability p, and the lemma gives the curve f_p = p f + (1-p) Id. Why is f_p alone not the guarantee of a step?",
        (
            Option(
                "Because batches may be empty.",
                False,
                "They may, but that is in the formula already: it averages over all batches.",
            ),
            Option(
                "Because f_p holds for large data sets only.",
                False,
                "It holds for any size. It comes from convexity, not from a limit.",
            ),
            Option(
                "Because f_p bounds one direction only.",
                True,
                "Without Mia against with her is f_p, with her against without is its inverse. A guarantee needs both: min{f_p, f_p⁻¹}**.",
            ),
        ),
    ),
    Question(
        "A paper trains for 20 epochs, with Poisson batches of 1 percent of the people on average. Which T belongs in μ = p √(T (e^(1/σ²) - 1))?",
        (
            Option(
                "20",
                False,
                "That is the number of epochs. T counts steps, and an epoch has 1/p of them.",
            ),
            Option(
                "100",
                False,
                "So many steps has one epoch. There are 20 of these.",
            ),
            Option(
                "2,000",
                True,
                "An epoch is as many steps as draw everybody once on average: 1/p = 100. Twenty of them are 2,000.",
            ),
        ),
    ),
    Question(
        "The budget is used up in the middle of a run, and the ledger refuses the next step. What may be published?",
        (
            Option(
                "The weights so far.",
                True,
                "Every step in them was paid for. That the run ends here tells nothing: the ledger knows the settings and a count, and no data.",
            ),
            Option(
                "Nothing, for the training was not finished.",
                False,
                "Privacy does not ask whether training was finished. What is paid for may be used.",
            ),
            Option(
                "The weights after the step that is being computed, if it is noted at once.",
                False,
                "That step is not covered by the budget, noted or not. This is why the ledger is asked first.",
            ),
        ),
    ),
)
