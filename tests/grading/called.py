"""`dpcourse grade`, called, and what it has written."""

import csv

from typer.testing import CliRunner

from dpcourse.commands import app


def call(*arguments):
    return CliRunner().invoke(app, ["grade", *map(str, arguments)])


def scores(out):
    with open(out / "gradebook.csv", encoding="utf-8-sig") as file:
        return {line["student"]: (line["status"], line["score"]) for line in csv.DictReader(file)}
