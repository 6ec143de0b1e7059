"""What must hold of the built site (`site/build`): no dead link, nothing from elsewhere, every page within two clicks."""

from __future__ import annotations

import posixpath
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[1]
SITE = ROOT / "target" / "site"
# Clicks from the home page to any other.
CLICKS = 2

# Whom pages may link to.
HOSTS = {"github.com", "keepachangelog.com", "rustup.rs"}

# Attributes through which a browser loads something at once.
LOADED = {
    "audio": "src",
    "embed": "src",
    "iframe": "src",
    "img": "src",
    "input": "src",
    "object": "data",
    "script": "src",
    "source": "src",
    "video": "src",
}
LINKS_LOADED = {"icon", "manifest", "modulepreload", "prefetch", "preload", "stylesheet"}


class Page(HTMLParser):
    """The addresses that a page links to and loads, and the names of its places."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        a = {name: value or "" for name, value in attributes}
        self.places |= {a[name] for name in ("id", "name") if name in a}
        if tag == "a" and "href" in a:
            self.links.add(a["href"])
        if tag == "link" and LINKS_LOADED & set(a.get("rel", "").split()):
            self.loads.add(a["href"])
        if a.get(LOADED.get(tag, "")):
            self.loads.add(a[LOADED[tag]])
        self.loads |= {part.split()[0] for part in a.get("srcset", "").split(",") if part}


def is_ours(path: Path) -> bool:
    """Whether we make the page; the Rust reference is made and checked by rustdoc."""
    return path.relative_to(SITE).parts[0] != "rust"


@pytest.fixture(scope="module")
def pages() -> dict[str, Page]:
    """The pages by address; 404.html is served for what is not there and speaks of addresses from the root."""
    paths = [path for path in SITE.rglob("*.html") if is_ours(path) and path != SITE / "404.html"]
    assert len(paths) > 20, "site/build has not run"
    return {path.relative_to(SITE).as_posix(): Page(path) for path in paths}


def is_outside(address: str) -> bool:
    parts = urlsplit(address)
    return bool(parts.scheme or parts.netloc)


def followed(page: str, address: str) -> tuple[str, str]:
    """The file and the place in it to which an address on a page leads."""
    parts = urlsplit(address)
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(parts.path))) if parts.path else page
    return path, unquote(parts.fragment)


def test_no_link_is_dead(pages):
    dead = []
    for name, page in pages.items():
        for address in page.links | page.loads:
            if is_outside(address):
                continue
            path, place = followed(name, address)
            if path.startswith("rust/") and not (SITE / "rust").exists():
                continue
            if not (SITE / path).is_file():
                dead.append(f"{name}: {address}")
            elif place and path in pages and place not in pages[path].places:
                dead.append(f"{name}: {address}, no such place")
    assert not dead


def test_the_rust_reference_is_linked_and_there(pages):
    linked = {followed(name, a)[0] for name, page in pages.items() for a in page.links if not is_outside(a)}
    rust = {path for path in linked if path.startswith("rust/")}
    assert rust
    if not (SITE / "rust").exists():
        pytest.skip("cargo doc has not run")
    assert all((SITE / path).is_file() for path in rust)


def test_addresses_that_files_give_the_site_exist():
    files = [ROOT / "README.md", ROOT / "python" / "README.md", ROOT / "pyproject.toml", *(ROOT / "docs").rglob("*.*")]
    texts = {path: path.read_text(encoding="utf-8") for path in files if path.suffix in (".ipynb", ".json", ".md", ".toml")}
    given = {(path.name, a) for path, text in texts.items() for a in re.findall(r"https://hingenet\.github\.io/hingenet/([\w./-]*)", text)}
    assert given
    missing = [pair for pair in given if not pair[1].startswith("rust/") and not (SITE / (pair[1] or "index.html")).is_file()]
    assert not missing


def test_links_lead_to_known_hosts(pages):
    hosts = {urlsplit(address).hostname for page in pages.values() for address in page.links if is_outside(address)}
    assert hosts <= HOSTS


def test_nothing_is_loaded_from_elsewhere(pages):
    outside = {f"{name}: {a}" for name, page in pages.items() for a in page.loads if is_outside(a) and not a.startswith("data:")}
    assert not outside
    for path in SITE.rglob("*.css"):
        if is_ours(path):
            assert not re.search(r"(@import|url\()\s*['\"]?(https?:)?//", path.read_text(encoding="utf-8")), path


def test_every_page_is_within_two_clicks(pages):
    reached, border = {"index.html"}, {"index.html"}
    for _ in range(CLICKS):
        border = {followed(name, a)[0] for name in border for a in pages[name].links if not is_outside(a)}
        border = (border & pages.keys()) - reached
        reached |= border
    assert reached == pages.keys()


def test_every_picture_says_what_it_shows():
    silent = []
    for path in SITE.rglob("*.html"):
        if is_ours(path):
            pictures = re.findall(r"<img\b[^>]*>", path.read_text(encoding="utf-8"))
            silent += [f"{path.name}: {picture}" for picture in pictures if not re.search(r'alt="[^"]+"', picture)]
    assert not silent
