"""A result, and a database, as the first edition of the course stored them."""

RESULT = (
    '{"status": "limit", "notes": ["cell 3 was left out: the time limit was reached"], "score": 2, "points": 15, "exercises": '
    '[{"id": "1.3", "state": "right", "points": 2, "out_of": 2, "message": "Right on inputs drawn just now.", "misconception": null, '
    '"seen": [], "observed": [], "printed": "", "override": null}, {"id": "1.4", "state": "wrong", "points": 0, "out_of": 2, '
    '"message": "No.", "misconception": "odds", "seen": ["f(1) gave 2"], "observed": ["f(1) gave 2; right is 3"], "printed": "x", '
    '"override": "shown on paper"}], "errors": ["cell 2: NameError: x"], "shingles": ["00aa", "00ab"]}'
)

SCHEMA = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE results (
    student TEXT, lesson INTEGER, file TEXT NOT NULL, digest TEXT NOT NULL, grader TEXT NOT NULL, result TEXT NOT NULL,
    PRIMARY KEY (student, lesson)
);
CREATE TABLE overrides (
    student TEXT, exercise TEXT, points REAL NOT NULL, reason TEXT NOT NULL, made TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (student, exercise)
);
"""
"""The tables of its database."""
