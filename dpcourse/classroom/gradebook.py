def write(rows, out):
    pass
