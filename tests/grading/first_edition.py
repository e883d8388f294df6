"""A result as the first edition of the course stored it."""

RESULT = (
    '{"status": "limit", "notes": ["cell 3 was left out: the time limit was reached"], "score": 2, "points": 15, "exercises": '
    '[{"id": "1.3", "state": "right", "points": 2, "out_of": 2, "message": "Right on inputs drawn just now.", "misconception": null, '
    '"seen": [], "observed": [], "printed": "", "override": null}, {"id": "1.4", "state": "wrong", "points": 0, "out_of": 2, '
    '"message": "No.", "misconception": "odds", "seen": ["f(1) gave 2"], "observed": ["f(1) gave 2; right is 3"], "printed": "x", '
    '"override": "shown on paper"}], "errors": ["cell 2: NameError: x"], "shingles": ["00aa", "00ab"]}'
)
