#!/usr/bin/env python3
"""The book: every table, figure and counted claim of the three papers beside what the product gives.

    python3 experiments/book run --data FOLDER [--minutes 60] [--jobs 2] [--only 'peharz/table/*']
    python3 experiments/book list [--only ...]
    python3 experiments/book pages [--output FOLDER]

`run` runs the pieces that have no line in experiments/results yet, those of the tables first and the cheapest first within them, and
stops when the time is over; the next run goes on. `list` says which pieces there are, how long each took and how long the
others may take. `pages` writes docs/reproduction from the lines alone, without data. FOLDER holds the data sets, which are not
part of this repository; `--program` names a built program in place of the installed package.
"""
import argparse
import fnmatch
import functools
import os
import pathlib
import sys

# One thread a process: what runs beside it is counted in `--jobs`.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import catalogue
import pieces
import program


def chosen(options) -> list[pieces.Piece]:
    return [p for p in catalogue.every().values() if any(fnmatch.fnmatch(p.name, pattern) for pattern in options.only)]


def run(options) -> int:
    everything = list(catalogue.every().values())
    lines = pieces.Lines(everything)
    lines.forget_old(everything)
    context = pieces.Context(tuple(options.program), options.data.resolve())
    todo = [p for p in chosen(options) if p.name not in lines.done]
    todo.sort(key=lambda p: (p.rank, pieces.estimate(p, everything, lines)))
    work = functools.partial(catalogue.run_named, context, program.version(context), lines.folder)
    failed = pieces.run_all(todo, everything, lines, work, options.minutes, options.jobs)
    left = sum(p.name not in lines.done for p in todo)
    print(f"{len(todo) - left} pieces done, {left} left, {failed} failed", file=sys.stderr)
    return 1 if failed else 0


def show(options) -> int:
    everything = list(catalogue.every().values())
    lines = pieces.Lines(everything)
    took = expected = 0.0
    for piece in chosen(options):
        seconds = lines.seconds(piece.name)
        if seconds is not None:
            took += seconds
            print(f"{piece.name}: {seconds:.1f} s")
        else:
            guess = pieces.estimate(piece, everything, lines)
            expected += guess
            print(f"{piece.name}: not run, about {guess:.0f} s")
    print(f"{took / 3600:.2f} hours of processor time taken, about {expected / 3600:.2f} more expected")
    return 0


def write_pages(options) -> int:
    import pages

    pages.write(pieces.Lines(catalogue.every().values()), options.output, tuple(options.program))
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="book", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, action in (("run", run), ("list", show), ("pages", write_pages)):
        command = commands.add_parser(name)
        command.set_defaults(action=action)
        command.add_argument("--program", type=lambda text: [text], default=[sys.executable, "-m", "hingenet"])
        if name != "pages":
            command.add_argument("--only", action="append", help="pieces by name, with * and ?; may be given several times")
        if name == "run":
            command.add_argument("--data", type=pathlib.Path, required=True, help="folder of the data sets")
            command.add_argument("--minutes", type=float, default=1e9, help="begin nothing that would end later")
            command.add_argument("--jobs", type=int, default=1, help="pieces that run at a time")
        if name == "pages":
            command.add_argument("--output", type=pathlib.Path, default=pieces.ROOT / "docs" / "reproduction")
    options = parser.parse_args()
    options.only = getattr(options, "only", None) or ["*"]
    return options.action(options)


if __name__ == "__main__":
    sys.exit(main())
