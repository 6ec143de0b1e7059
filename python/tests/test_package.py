"""What a wheel holds, and that it works on a machine that has nothing but Python."""

import ast
import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

import hingenet

ROOT = Path(__file__).parents[2]
WHEELS = sorted((ROOT / "target" / "wheels").glob("hingenet-*.whl"), key=lambda p: p.stat().st_mtime)
MEGABYTE = 1 << 20

# Continuous integration has built one.
needs_wheel = pytest.mark.skipif(not WHEELS and not os.environ.get("CI"), reason="maturin build has not run")


@pytest.fixture(scope="module")
def wheel():
    with zipfile.ZipFile(WHEELS[-1]) as archive:
        yield archive


@needs_wheel
def test_a_wheel_holds_package_program_and_licences_and_nothing_else(wheel):
    names = wheel.namelist()
    info = f"hingenet-{hingenet.__version__}.dist-info"
    sources = {f"hingenet/{p.name}" for p in (ROOT / "python" / "hingenet").iterdir() if p.suffix in (".py", ".pyi")}
    engine = [name for name in names if re.fullmatch(r"hingenet/_engine(\.abi3\.so|\.pyd)", name)]
    assert len(engine) == 1
    rest = {name for name in names if not name.startswith((f"{info}/", "hingenet.libs/"))}
    assert rest == {*sources, *engine, "hingenet/py.typed"}
    for licence in ("LICENSE-MIT", "LICENSE-APACHE"):
        assert wheel.read(f"{info}/licenses/{licence}") == (ROOT / licence).read_bytes()
    assert "hingenet=hingenet.__main__:main" in wheel.read(f"{info}/entry_points.txt").decode().replace(" ", "")


@needs_wheel
def test_a_wheel_is_small_and_serves_all_versions_of_python(wheel):
    assert WHEELS[-1].stat().st_size < 15 * MEGABYTE
    assert re.search(r"-cp311-abi3-", WHEELS[-1].name)


@needs_wheel
def test_the_registry_is_told_what_it_is_and_where_it_lives(wheel):
    metadata = wheel.read(f"hingenet-{hingenet.__version__}.dist-info/METADATA").decode()
    for line in (
        "License-Expression: MIT OR Apache-2.0",
        "Requires-Python: >=3.11",
        "Project-URL: Repository, https://github.com/hingenet/hingenet",
        "Project-URL: Documentation, https://hingenet.github.io/hingenet/",
        "Description-Content-Type: text/markdown",
    ):
        assert f"\n{line}" in metadata, line
    links = re.findall(r"\]\(([^)]+)\)", metadata)
    assert links and all(link.startswith("https://") for link in links), "a registry knows no files of ours"


def test_type_checkers_see_the_names_that_are_there():
    tree = ast.parse(Path(hingenet.__file__).read_text(encoding="utf-8"))
    seen = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level for alias in node.names}
    assert sorted(seen) == sorted(hingenet.__all__)
    assert all(getattr(hingenet, name) is not None for name in hingenet.__all__)
    assert set(hingenet.__all__) <= set(dir(hingenet))
    with pytest.raises(AttributeError, match="nobody"):
        hingenet.nobody  # noqa: B018


def test_the_benchmarks_of_this_version_are_kept_and_shown():
    code = "import versions; print(*(r['version'] for r in versions.records()), '|', versions.PAGE.read_text() == versions.page(versions.records()))"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT / "benchmarks", capture_output=True, text=True, check=True)
    kept, shown = run.stdout.split("|")
    assert hingenet.__version__ in kept.split() and shown.strip() == "True"


def needed(name, found):
    """A distribution and all that it needs, by name."""
    if name not in found:
        found[name] = distribution(name)
        for requirement in found[name].requires or []:
            if "extra ==" not in requirement:
                needed(re.match(r"[\w.-]+", requirement)[0], found)
    return found


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """An environment with the wheel, with what it says it needs, and without a compiler: its programs, and how to run them."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
    scripts, suffix = ("Scripts", ".exe") if os.name == "nt" else ("bin", "")
    programs = folder / "env" / scripts
    python = programs / f"python{suffix}"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", "--no-index", WHEELS[-1]], check=True)
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(subprocess.run([python, "-c", where], check=True, capture_output=True, text=True).stdout.strip())
    here = Path(sysconfig.get_path("purelib"))
    for one in needed("hingenet", {}).values():
        for top in {file.parts[0] for file in one.files if file.parts[0] not in ("..", "__pycache__")}:
            if not (site / top).exists():
                (site / top).symlink_to(here / top, target_is_directory=(here / top).is_dir())
    kept = {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP") if name in os.environ}

    def run(program, *words):
        environment = kept | {"PATH": str(programs), "HOME": str(folder)}
        run = subprocess.run(
            [programs / f"{program}{suffix}", *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
        return run.stdout

    return folder, run


@needs_wheel
class TestBarePython:
    def test_it_has_the_wheel_and_no_compiler_and_none_of_our_packages(self, bare):
        folder, run = bare
        code = "import hingenet, importlib.util, shutil; print(hingenet.__file__)\n"
        code += "print(*map(shutil.which, ('cc', 'gcc', 'clang', 'cargo')), importlib.util.find_spec('pandas'))"
        place, tools = run("python", "-c", code).splitlines()
        assert Path(place).is_relative_to(folder) and tools == "None None None None None"

    def test_the_program_runs(self, bare):
        folder, run = bare
        assert run("hingenet", "--version") == f"hingenet {hingenet.__version__}\n"
        assert "mixed.hgn" in run("hingenet", "demo", "--quiet")
        assert (folder / "hingenet-demo" / "mixed-model.html").stat().st_size > 100_000

    def test_the_example_of_the_readme_runs(self, bare):
        _, run = bare
        texts = [(ROOT / page).read_text(encoding="utf-8") for page in ("README.md", "python/README.md")]
        (example,), (same,) = (re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S) for text in texts)
        assert example == same
        run("python", "-c", example)
