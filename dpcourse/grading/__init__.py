"""From a folder of submissions to a gradebook; nothing here but the worker in `run` executes a line of a student's.

A submission walks through six folders, in this order:

    collect   which files are whose, and what is in them
    run       where a student's code runs: the sandbox, the worker in it, and how it is asked
    judge     which cells run, what the answers do, and what that is worth
    keep      what is stored: results, evidence, the secret
    marks     what counts of it: points, lateness, what is set by hand
    out       what people and learning platforms get

`cohort.grade_class` is the way, and `result` what is known of one submission, in every room:

    collect.submissions          which notebooks there are, once for a class
    keep: Store.to_judge         which of them are graded already, by what grades today
    collect: Submission.content  the bytes of one that is not
    judge: work.graded           in any process: `run` plays the cells that have to run, and judge judges what comes back
    keep: Store.save             its result, and the evidence

`dpcourse.commands.grade_steps` does what the command line asks, and has marks and out written from what is kept.
"""
