"""From a folder of submissions to a gradebook; nothing here but the worker runs a line of a student's.

A submission goes through the packages in this order: collect (which files are whose), sandbox (where its code runs),
judging (what its answers do, and what that is worth), keep (what is stored), marks (what counts), outputs (what people
and learning platforms get). `cohort` takes a class through them, `command` does what the command line asks.
"""
