"""The six training loops of lesson 06, as text; tests/course/test_accountants_loops.py runs each of them."""

LAYERS = """\
for step in range(T):
    total = np.zeros(d)
    for row in rows:
        if rng.random() < p:
            parts = np.split(gradient(weights, row), 9)
            total += np.concatenate([clip(part, R) for part in parts])
    total += rng.normal(0, sigma * R, d)
    weights = weights - rate * total / (p * n)
"""

MEAN = """\
for step in range(T):
    drawn = [row for row in rows if rng.random() < p]
    each = [gradient(weights, row) for row in drawn]
    mean = clip(sum(each) / (p * n), R)
    mean = mean + rng.normal(0, sigma * R / (p * n), d)
    weights = weights - rate * mean
"""

MACHINES = """\
for step in range(T):
    total = np.zeros(d)
    for share in shares:
        for row in share:
            if rng.random() < p:
                total += clip(gradient(weights, row), R)
        total += rng.normal(0, sigma * R / 16, d)
    weights = weights - rate * total / (p * n)
"""

COPIES = """\
for step in range(T):
    mean = np.zeros(d)
    for row in rows:
        if rng.random() < p:
            g = sum(gradient(weights, copy) for copy in turned(row))
            mean += clip(g, R) / (p * n)
    mean += rng.normal(0, sigma * R / (p * n), d)
    weights = weights - rate * mean
"""

MICROBATCHES = """\
for step in range(T):
    total = np.zeros(d)
    for block in blocks:
        drawn = [gradient(weights, row) for row in block if rng.random() < p]
        total += clip(sum(drawn) / 4, R)
    total += rng.normal(0, sigma * R, d)
    weights = weights - rate * total / (p * n)
"""

NUMBER_DRAWN = """\
for step in range(T):
    total, size = np.zeros(d), 0
    for row in rows:
        if rng.random() < p:
            total += clip(gradient(weights, row), R)
            size += 1
    total += rng.normal(0, sigma * R, d)
    weights = weights - rate * total / size
"""

LOOPS = {
    "A": LAYERS,
    "B": MEAN,
    "C": MACHINES,
    "D": COPIES,
    "E": MICROBATCHES,
    "F": NUMBER_DRAWN,
}
