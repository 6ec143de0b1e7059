"""What the program writes as JSON is what the schemas of the documentation say, and they say all of it."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "target" / "release" / "hingenet"
PAGE = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
SCHEMAS = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in (ROOT / "docs" / "schemas").glob("*.json")}

# Commands that show every field, by schema; those before the first write the files that they read.
BEFORE = [
    "generate mixed -n 200 -o rows.csv",
    "generate gbn -n 80 -o numbers.csv --truth arcs.csv",
    "fit rows.csv --target class --model tan:ml --calibrate-sets -o tree.hgn",
    "fit rows.csv --target class --model sgbn:search -o gaussian.hgn",
    "fit rows.csv --target class --model pool,fast=true -o pool.hgn",
    "fit numbers.csv --target class --model sgbn:mm,lambda1=10,k=12,nu=0.3 -o moved.hgn",
]
COMMANDS = [
    ("evaluate", "evaluate rows.csv --target class --model nb:ml --model pool,fast=true --missing 0,0.5 --folds 2 --repeats 2 --json OUT"),
    ("evaluate", "evaluate rows.csv --target class --model nb:ml-bn-svm,gamma=1 --sweep lambda=0,1 --test rows.csv --json OUT"),
    ("evaluate", "evaluate rows.csv --target class --model nb:ml --model tan:ml --rows 20,80 --folds 3 --json OUT"),
    ("evaluate", "evaluate partly.csv --target class --semi-supervised --model nb:ml --model nb:ml,tau=0 --folds 3 --json OUT"),
    ("explain", "explain tree.hgn rows.csv --row 1 --format json"),
    ("explain", "explain pool.hgn rows.csv --row 2 --kind terms --format json"),
    ("query", "query tree.hgn --given oil=dark --given alarm=yes --json OUT"),
    ("query", "query gaussian.hgn --given temperature=60 --json OUT"),
    ("query", "query pool.hgn --given temperature=60 --json OUT"),
    ("inspect", "inspect tree.hgn --format json"),
    ("inspect", "inspect gaussian.hgn --format json"),
    ("inspect", "inspect moved.hgn --format json"),
    ("inspect", "inspect pool.hgn --data rows.csv --format json"),
    ("network", "network numbers.csv --target class --bootstrap 3 --truth arcs.csv -o OUT"),
    ("network", "network numbers.csv --ignore class -o OUT"),
]

needs_program = pytest.mark.skipif(not PROGRAM.exists() and not os.environ.get("CI"), reason="cargo build --release --workspace has not run")


def unsaid(value, schema, place=""):
    """Places of fields that a schema does not name."""
    schemas = [schema, *schema.get("anyOf", [])]
    if isinstance(value, dict):
        for key, inner in value.items():
            known = [s["properties"][key] for s in schemas if key in s.get("properties", {})]
            known += [s["additionalProperties"] for s in schemas if "additionalProperties" in s]
            if known:
                yield from unsaid(inner, known[0], f"{place}/{key}")
            elif any("properties" in s for s in schemas):
                yield f"{place}/{key}"
    elif isinstance(value, list):
        for inner in value:
            yield from unsaid(inner, schema.get("items", {}), f"{place}[]")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("json")
    for command in BEFORE:
        subprocess.run([PROGRAM, "--quiet", *command.split()], cwd=folder, check=True)
    lines = (folder / "rows.csv").read_text(encoding="utf-8").splitlines()
    emptied = [line.rpartition(",")[0] + "," if n % 3 == 1 else line for n, line in enumerate(lines)]
    (folder / "partly.csv").write_text("\n".join(emptied) + "\n", encoding="utf-8")
    return folder


@needs_program
@pytest.mark.parametrize("name,command", COMMANDS, ids=[command for _, command in COMMANDS])
def test_the_program_writes_what_the_schema_says(folder, name, command):
    words = [PROGRAM, "--quiet", *command.replace("OUT", "out.json").split()]
    printed = subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True).stdout
    written = json.loads((folder / "out.json").read_text(encoding="utf-8") if "OUT" in command else printed)
    Draft202012Validator(SCHEMAS[name]).validate(written)
    assert not set(unsaid(written, SCHEMAS[name]))


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one_and_the_page_explains_its_fields(name):
    Draft202012Validator.check_schema(SCHEMAS[name])
    assert f"schemas/{name}.json" in PAGE
    section = next(part for part in PAGE.split("\n## ") if f"schemas/{name}.json" in part)
    assert not [field for field in SCHEMAS[name]["properties"] if f"`{field}`" not in section]
