"""Pieces of work: what can be run alone, what made its result, how long it took.

A piece has a name (`peharz/table/car/tan:mm`), a recipe (a number that grows when the way its result is made changes, so that
old lines no longer count) and a function that returns the result as plain data. Results are lines of JSON in
`experiments/results/PAPER.jsonl`, one for each piece, written whole or not at all; whoever has the lines can make the pages.
"""
import concurrent.futures
import contextlib
import dataclasses
import fcntl
import json
import os
import pathlib
import resource
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Iterable

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "experiments" / "results"


@dataclasses.dataclass(frozen=True)
class Piece:
    """Something that is run alone."""

    name: str
    """Paper first, then what it is of, with slashes between."""
    recipe: int
    """Grows when results of this kind are made in another way."""
    size: float
    """How much work it is: a rough number of seconds, which counts against others of its kind once one of them has run."""
    run: Callable[["Context"], dict]
    """Makes the result."""
    seed: int = 0
    rank: int = 0
    """Pieces of a lower rank come first, whatever they cost."""

    @property
    def paper(self) -> str:
        return self.name.split("/")[0]

    @property
    def kind(self) -> str:
        """Pieces of one kind take time in proportion to their size: same part of a paper, same method."""
        parts = self.name.split("/")
        return f"{parts[0]}/{parts[1]}/{parts[-1]}"


@dataclasses.dataclass(frozen=True)
class Context:
    """What a piece may use."""

    program: tuple[str, ...]
    data: pathlib.Path


class Lines:
    """The results of all papers, by piece; only those of the recipe that a piece has today count."""

    def __init__(self, pieces: Iterable[Piece], folder: pathlib.Path = RESULTS):
        self.folder = folder
        recipes = {piece.name: piece.recipe for piece in pieces}
        self.done: dict[str, dict] = {}
        for path in (folder / f"{paper}.jsonl" for paper in dict.fromkeys(name.split("/")[0] for name in recipes)):
            for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
                row = json.loads(line)
                if recipes.get(row["piece"]) == row["recipe"]:
                    self.done[row["piece"]] = row

    def result(self, name: str) -> dict | None:
        row = self.done.get(name)
        return row and row["result"]

    def seconds(self, name: str) -> float | None:
        row = self.done.get(name)
        return row and row["seconds"]

    def forget_old(self, pieces: Iterable[Piece]) -> None:
        """Leaves out lines of other recipes and of pieces that are no more."""
        for paper in {piece.paper for piece in pieces}:
            path = self.folder / f"{paper}.jsonl"
            if not path.exists():
                continue
            with locked(path):
                lines = path.read_text(encoding="utf-8").splitlines()
                kept = [line for line in lines if self.done.get(json.loads(line)["piece"]) == json.loads(line)]
                if kept != lines:
                    new = path.with_suffix(".new")
                    new.write_text("".join(line + "\n" for line in kept), encoding="utf-8")
                    new.replace(path)


@contextlib.contextmanager
def locked(path: pathlib.Path):
    """Keeps other runs away from a file of results."""
    with open(path.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def append(folder: pathlib.Path, paper: str, row: dict) -> None:
    """Adds a line in one write."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{paper}.jsonl"
    text = json.dumps(row, separators=(",", ":")) + "\n"
    with locked(path):
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(handle, text.encode())
        finally:
            os.close(handle)


def processor_seconds() -> float:
    """Processor time of this process and of the programs that it has called."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def estimate(piece: Piece, pieces: list[Piece], lines: Lines) -> float:
    """Seconds that a piece will take, by what pieces of its kind, else of its part of the paper, took for their size; its size if
    none has run."""
    for alike in (lambda p: p.kind == piece.kind, lambda p: p.name.split("/")[:2] == piece.name.split("/")[:2]):
        known = sorted((p.size, lines.seconds(p.name)) for p in pieces if p.name in lines.done and alike(p))
        if known:
            # small pieces spend their time on starting programs: the largest say more
            return statistics.median(seconds / size for size, seconds in known[-3:]) * piece.size
    return piece.size


def run_piece(piece: Piece, context: Context, version: str, folder: pathlib.Path) -> float:
    """Runs a piece and keeps its result; the seconds of processor time that it took."""
    before = processor_seconds()
    result = piece.run(context)
    seconds = round(processor_seconds() - before, 2)
    command = f"python3 experiments/book run --only {piece.name}"
    row = {"piece": piece.name, "recipe": piece.recipe, "program": version, "command": command, "seed": piece.seed, "seconds": seconds}
    append(folder, piece.paper, row | {"result": result})
    return seconds


def run_all(todo: list[Piece], pieces: list[Piece], lines: Lines, run: Callable, minutes: float, jobs: int) -> int:
    """Runs pieces in their order while there is time; returns how many failed. One that would not end in time is not begun.

    `run` takes the name of a piece, since another process does the work.
    """
    end = time.monotonic() + 60 * minutes
    failed = 0
    waiting = list(todo)
    running: dict[concurrent.futures.Future, Piece] = {}
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        while waiting or running:
            while waiting and len(running) < jobs:
                piece = waiting.pop(0)
                left = end - time.monotonic()
                if left > 0 and estimate(piece, pieces, lines) <= left:
                    running[pool.submit(run, piece.name)] = piece
            if not running:
                break
            finished, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in finished:
                piece = running.pop(future)
                try:
                    seconds = future.result()
                except Exception:
                    failed += 1
                    print(f"{piece.name}: failed\n{traceback.format_exc(limit=-1)}", file=sys.stderr, flush=True)
                else:
                    lines.done[piece.name] = {"piece": piece.name, "seconds": seconds}
                    print(f"{piece.name}: {seconds:.1f} s", file=sys.stderr, flush=True)
    return failed
