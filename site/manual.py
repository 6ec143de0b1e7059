"""The commands of the program as Markdown, from the manual pages that `hingenet manual` writes."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

# The program that comes with the package.
PROGRAM = [sys.executable, "-m", "hingenet"]


@dataclass
class Entry:
    """An option or an argument."""

    term: str
    about: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)


@dataclass
class Section:
    title: str
    text: list[str] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)


def sections(page: str) -> dict[str, Section]:
    """The sections of a manual page by title."""
    found: dict[str, Section] = {}
    section, before = Section(""), ""
    for line in page.splitlines():
        text = plain(line)
        if line.startswith(".SH "):
            section = found[text] = Section(text)
        elif before == ".TP":
            section.entries.append(Entry(text))
        elif before.startswith(".IP"):
            section.entries[-1].values.append(text)
        elif line and not line.startswith(".") and text != "Possible values:":
            (section.entries[-1].about if section.entries else section.text).append(text)
        before = line
    return found


def plain(line: str) -> str:
    """A line without the marks of the manual."""
    line = re.sub(r'^\.SH "?([^"]*)"?', r"\1", line)
    return re.sub(r"\\f[BIR]", "", line).replace(r"\*(Aq", "'").replace(r"\-", "-").replace(r"\(bu", "•").strip("\n")


def entry(e: Entry) -> str:
    term, _, default = e.term.partition(" [default: ")
    text = f"- `{term}`: {escaped(' '.join(e.about))}"
    if default:
        text += f" (default `{default.removesuffix(']')}`)"
    for value in e.values:
        name, _, about = value.partition(": ")
        text += f"\n    - `{name}`" + (f": {escaped(about)}" if about else "")
    return text + "\n"


def escaped(text: str) -> str:
    return re.sub(r"<(?=\w)", "&lt;", text)


def command(title: str, page: dict[str, Section], shown: str) -> str:
    """One command: what it is for, how it is called, its options."""
    text = f"\n## `{title}`\n\n{page['DESCRIPTION'].text[0]}\n\n```text\n{shown}\n```\n"
    for name, heading in (("OPTIONS", "Arguments and options"), ("READING DATA", "Reading data")):
        if name in page:
            entries = [e for e in page[name].entries if not e.term.startswith("-h")]
            # what must be given first
            entries.sort(key=lambda e: e.term.startswith("-"))
            text += f"\n**{heading}**\n\n" + "".join(map(entry, entries))
    if "EXTRA" in page:
        text += "\n" + extra(page["EXTRA"].text)
    return text


def extra(lines: list[str]) -> str:
    """What stands at the end of a page: a sentence, or a list of names under a title."""
    rows = [re.match(r"  (\S+) +(.*)", line) for line in lines]
    shown = [f"- `{row[1]}`: {row[2]}\n" if row else f"\n**{line.removesuffix(':')}**\n\n" for row, line in zip(rows, lines)]
    return "".join(shown)


def markdown() -> str:
    """The page of the site."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*PROGRAM, "--quiet", "manual", "-o", folder], check=True, capture_output=True)
        pages = {path.stem: sections(path.read_text(encoding="utf-8")) for path in Path(folder).glob("*.1")}
    whole = pages["hingenet"]
    names = [e.term.removesuffix("(1)") for e in whole["SUBCOMMANDS"].entries if e.term.removesuffix("(1)") in pages]
    text = "# The program `hingenet`\n\n"
    text += "What `hingenet COMMAND --help` says. `hingenet manual -o ~/.local/share/man/man1` writes the same as manual pages, and\n"
    text += "`hingenet completions SHELL` prints completions for your shell.\n\n| command | what it does |\n|---|---|\n"
    for name in names:
        short = name.removeprefix("hingenet-")
        text += f"| [`{short}`](#{short}) | {pages[name]['DESCRIPTION'].text[0]} |\n"
    text += "\n## Options of every command\n\n" + "".join(map(entry, whole["GENERAL"].entries))
    text += "\n" + "\n\n".join(whole["EXTRA"].text) + "\n"
    for name in names:
        text += command(name.removeprefix("hingenet-"), pages[name], usage(name.removeprefix("hingenet-")))
    return text


def usage(name: str) -> str:
    """How a command is called, in one line."""
    told = subprocess.run([*PROGRAM, name, "--help"], capture_output=True, text=True, check=True).stdout
    shown = told.split("Usage: ")[1].split("\n\n")[0]
    return re.sub(r"\s+", " ", shown)
