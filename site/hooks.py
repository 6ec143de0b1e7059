"""What the site has beyond the pages of ``docs``: pages from other folders, notebooks, and links that work there and here.

A page of ``docs`` links to files of the repository by relative paths, as the repository's own viewer wants them. On the
site such a link leads to the page made of that file, or to the file in the repository where it is no page.
"""

from __future__ import annotations

import posixpath
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File, Files
import reference
from notebooks import Notebook

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
RUST = ROOT / "target" / "doc"
REPOSITORY = "https://github.com/hingenet/hingenet"

# Files outside `docs` that are pages of the site.
OUTSIDE = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CODE_OF_CONDUCT.md": "code-of-conduct.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "benchmarks/README.md": "benchmarks.md",
    "experiments/README.md": "experiments.md",
}
# Files that the site has a page in place of.
INSTEAD = {"README.md": "index.md"}
ASSETS = ["icon.svg", "iframe-worker.js", "site.css"]

# Notebooks by the address of their page.
NOTEBOOKS: dict[str, Notebook] = {}

# An inline link or picture: its text, then its address.
LINK = re.compile(r"(\]\()([^)\s]+)(\))")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Every public name of Python stands below the list of them."""
    pages = next(part["Reference"] for part in config.nav if "Reference" in part)
    place = next(i for i, page in enumerate(pages) if "Python" in page)
    pages[place] = {"Python": [pages[place]["Python"], *reference.python()]}
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for source, uri in OUTSIDE.items():
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / source)))
    for uri, text in reference.pages(config.site_url).items():
        files.append(File.generated(config, uri, content=text))
    for name in ASSETS:
        files.append(File.generated(config, f"assets/{name}", abs_src_path=str(ROOT / "site" / name)))
    for uri, content in gallery([f for f in files if f.src_uri.endswith(".ipynb")]).items():
        files.append(File.generated(config, uri, content=content))
    return files


def gallery(sources: list[File]) -> dict[str, str | bytes]:
    """Pages and pictures of notebooks, which are run side by side, and the page that leads to them."""
    with ThreadPoolExecutor() as pool:
        notebooks = list(pool.map(lambda file: Notebook(file.abs_src_path, file.name), sources))
    text = "# Gallery\n\nNotebooks that take a question from the table to a figure. They were run when this site was built.\n\n"
    made: dict[str, str | bytes] = {}
    for notebook in notebooks:
        NOTEBOOKS[f"gallery/{notebook.name}.md"] = notebook
        made[f"gallery/{notebook.name}.md"] = notebook.page
        made |= {f"gallery/{name}": picture for name, picture in notebook.pictures.items()}
        text += f"- [{notebook.title}]({notebook.name}.md). {notebook.about}\n"
    return {"gallery/index.md": text, **made}


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    source = next((s for s, uri in OUTSIDE.items() if uri == page.file.src_uri), f"docs/{page.file.src_uri}")
    here = posixpath.dirname(source)

    def rewritten(match: re.Match[str]) -> str:
        path, hash_sign, anchor = match[2].partition("#")
        if not path or ":" in path:
            return match[0]
        target = posixpath.normpath(posixpath.join(here, path))
        return match[1] + (address(target, page, files) or path) + hash_sign + anchor + match[3]

    return LINK.sub(rewritten, markdown)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    notebook = NOTEBOOKS.get(page.file.src_uri)
    for mark, shown in notebook.html.items() if notebook else ():
        html = html.replace(mark, shown)
    # links to the published site lead to the same page of this one
    up = "../" * page.file.src_uri.count("/")
    return html.replace(f'href="{config.site_url}', f'href="{up}')


def on_post_build(config: MkDocsConfig) -> None:
    """The Rust reference stands under `rust`, where `cargo doc` has made it."""
    if (RUST / "hingenet").exists():
        shutil.copytree(RUST, Path(config.site_dir) / "rust", ignore=shutil.ignore_patterns(".lock"))


def address(target: str, page: Page, files: Files) -> str | None:
    """Where a link to a file of the repository leads on the site; nothing if there is no such file."""
    uri = OUTSIDE.get(target) or INSTEAD.get(target) or target.removeprefix("docs/").replace(".ipynb", ".md")
    if files.get_file_from_path(uri):
        return posixpath.relpath(uri, posixpath.dirname(page.file.src_uri) or ".")
    if (ROOT / target).exists():
        return f"{REPOSITORY}/{'tree' if (ROOT / target).is_dir() else 'blob'}/main/{target}"
    return None
