"""The program that the wheel installs is the one that Cargo builds: the same answers, exit codes and signals."""

import os
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

BUILT = Path(__file__).parents[2] / "target" / "release" / f"hingenet{sysconfig.get_config_var('EXE') or ''}"
SCRIPT = Path(sysconfig.get_path("scripts")) / BUILT.name
PROGRAMS = {"built": [BUILT], "script": [SCRIPT], "module": [sys.executable, "-m", "hingenet"]}

built = pytest.mark.skipif(not BUILT.exists() and not os.environ.get("CI"), reason="cargo build --release --workspace has not run")


def answer(program, words, folder, stdin=b""):
    run = subprocess.run(
        [*PROGRAMS[program], *words], cwd=folder, input=stdin, capture_output=True, timeout=60, check=False
    )
    return run.returncode, run.stdout, run.stderr


@pytest.fixture
def rows(tmp_path):
    assert answer("script", ["generate", "corral", "-n", "200", "-o", "rows.csv"], tmp_path)[0] == 0
    return tmp_path


@built
@pytest.mark.parametrize(
    "code,line",
    [
        (0, "--version"),
        (0, "--help"),
        (2, ""),
        (2, "evalute rows.csv"),
        (0, "models"),
        (0, "completions bash"),
        (2, "fit rows.csv --target class --model tan:ml,alpha=-1 -o m.hgn"),
        (3, "fit rows.csv --target nobody -o m.hgn"),
        (3, "predict rows.csv rows.csv"),
        (2, "fit rows.csv --target class -o rows.csv"),
        (0, "generate corral -n 20 --seed 3"),
        (0, "fit rows.csv --target class --model tan:ml -o - --threads 1"),
        (3, "fit rows.csv --target class --model pool --max-memory 1K -o m.hgn"),
    ],
)
def test_every_way_to_start_it_gives_the_same_answer(code, line, rows):
    one, *others = [answer(program, line.split(), rows) for program in PROGRAMS]
    assert one[0] == code, one
    assert all(other == one for other in others)
    assert [path.name for path in rows.iterdir()] == ["rows.csv"]


def test_it_reads_from_a_pipe_and_takes_names_that_are_no_text(rows):
    text = (rows / "rows.csv").read_bytes()
    words = ["fit", "-", "--target", "class", "--model", "nb:ml", "-o", b"\xff.hgn" if sys.platform == "linux" else "f.hgn"]
    code, _, said = answer("script", words, rows, text)
    assert code == 0, said
    assert len(list(rows.glob("*.hgn"))) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
class TestSignals:
    def start(self, folder, **streams):
        """Work that takes long, at the moment when it has begun."""
        line = "evaluate rows.csv --target class --model majority --repeats 100000 --json out.json -v"
        words = [*PROGRAMS["script"], *line.split()]
        child = subprocess.Popen(words, cwd=folder, stderr=subprocess.PIPE, **streams)
        assert child.stderr.readline().startswith(b"detail")
        return child

    def test_ctrl_c_ends_it_without_a_traceback(self, rows):
        with self.start(rows) as child:
            child.send_signal(signal.SIGINT)
            said = child.stderr.read()
            assert child.wait(60) == 130
        assert b"Traceback" not in said and b"interrupted" in said.lower()
        assert not (rows / "out.json").exists()

    def test_a_request_to_terminate_ends_it_at_once(self, rows):
        with self.start(rows) as child:
            child.send_signal(signal.SIGTERM)
            assert child.wait(10) == -signal.SIGTERM

    def test_a_reader_who_has_seen_enough_is_no_failure(self, rows):
        words = [*PROGRAMS["script"], "generate", "waveform"]
        with subprocess.Popen(words, cwd=rows, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            child.stdout.close()
            assert (child.stderr.read(), child.wait(60)) == (b"", 0)


def test_it_starts_without_the_packages_of_the_estimators():
    code = """import sys, runpy
sys.argv = ["hingenet", "--version"]
try:
    runpy.run_module("hingenet", run_name="__main__")
except SystemExit as end:
    assert end.code == 0
print(sorted({"numpy", "sklearn", "narwhals"} & set(sys.modules)))"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "[]"
