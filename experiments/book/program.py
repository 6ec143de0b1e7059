"""The product, called as a program on files of a temporary folder."""
import csv
import io
import json
import pathlib
import re
import subprocess
import urllib.parse

import pandas

from pieces import Context

# The same work on any machine, and times that can be compared.
ALWAYS = ("--quiet", "--threads", "1")


class Failed(Exception):
    """The program said no; the text is its first line."""


def call(context: Context, *arguments, folder: pathlib.Path | None = None) -> str:
    """Standard output of one call."""
    command = [*context.program, *map(str, arguments), *ALWAYS]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed((done.stderr.strip().splitlines() or ["no message"])[0])
    return done.stdout


def version(context: Context) -> str:
    return subprocess.run([*context.program, "--version"], check=True, capture_output=True, text=True).stdout.split()[-1]


def generate(context: Context, generator: str, rows: int, seed: int) -> pandas.DataFrame:
    return pandas.read_csv(io.StringIO(call(context, "generate", generator, "-n", rows, "--seed", seed)))


def fit(context: Context, folder: pathlib.Path, train: pathlib.Path, target: str, model: str, *more) -> None:
    """Fits `model.hgn`."""
    call(context, "fit", train, "--target", target, "--model", model, "-o", "model.hgn", *more, folder=folder)


def facts(context: Context, folder: pathlib.Path) -> dict:
    """What the search of `model.hgn` chose and how its solver ended."""
    return json.loads(call(context, "inspect", "model.hgn", "--format", "json", folder=folder))["facts"]


def predict(context: Context, folder: pathlib.Path, rows: pathlib.Path) -> list[str]:
    call(context, "predict", "model.hgn", rows, "-o", "answers.csv", folder=folder)
    with open(folder / "answers.csv", newline="", encoding="utf-8") as lines:
        return [row["prediction"] for row in csv.DictReader(lines)]


def probabilities(context: Context, folder: pathlib.Path, rows: pathlib.Path) -> pandas.DataFrame:
    """The answers and the probability of each class."""
    call(context, "predict", "model.hgn", rows, "--proba", "-o", "answers.csv", folder=folder)
    return pandas.read_csv(folder / "answers.csv", dtype={"prediction": str})


def log_likelihood(context: Context, folder: pathlib.Path, rows: pathlib.Path) -> float:
    """Mean over the rows of the logarithm of their probability, class included."""
    table = pandas.read_csv(io.StringIO(call(context, "loglik", "model.hgn", rows, folder=folder)))
    return float(table["log_p_with_class"].mean())


def states(context: Context, folder: pathlib.Path) -> dict[str, list]:
    """Of each column of `model.hgn` the upper ends of its intervals, or its categories."""
    text = call(context, "inspect", "model.hgn", "--format", "bif", folder=folder)
    found: dict[str, list] = {}
    for block in re.findall(r"variable (.*?)\n}", text, flags=re.DOTALL):
        lines = block.splitlines()
        column = lines[0].split()[0]
        names = [name.strip() for name in re.search(r"\{(.*)\}", lines[1])[1].split(",")]
        for line in lines[2:]:
            if said := re.match(r"\s*property state(\d+) = (.*);", line):
                names[int(said[1])] = urllib.parse.unquote(said[2])
            elif said := re.match(r"\s*property name = (.*);", line):
                column = urllib.parse.unquote(said[1])
        found[column] = [interval_end(name) for name in names] if all(map(is_interval, names)) else names
    return found


def is_interval(name: str) -> bool:
    return re.fullmatch(r"\(\S+, \S+[])]", name) is not None


def interval_end(name: str) -> float:
    return float(name.split(", ")[1][:-1])
