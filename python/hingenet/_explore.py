"""The page of a model in a notebook: click what is known, see what follows."""

from __future__ import annotations

import html
import os
from types import TracebackType
from typing import Self

from . import _engine


class ExplorerPage:
    """The page of a fitted model; a notebook shows it.

    A network of moderate size is asked by the page itself: it then works without Python, also in a notebook that is opened later.
    Any other model answers through a server in this process that only this machine can reach; it is started when the page is first
    shown or its ``url`` asked for, and ends with ``close()``, with a ``with`` block or with Python.

    Parameters
    ----------
    spec : str
        Name and options of the model.
    page : _engine.ExplorerPage
        What the page shows.
    threads : int
        Threads of the server.
    height : int
        Height in a notebook, in pixels.
    """

    def __init__(self, spec: str, page: _engine.ExplorerPage, threads: int, height: int) -> None:
        self._spec, self._shown, self._threads = spec, page, threads
        self.height = height
        self._page = page.text()
        self._server: _engine.PageServer | None = None

    @property
    def url(self) -> str:
        """Address of the page in a browser on this machine, whatever the model. Whoever knows it can ask the model."""
        if self._server is None:
            self._server = self._shown.serve(self._threads)
        return self._server.url

    def save(self, path: str | os.PathLike) -> None:
        """Write the page as a file that needs nothing else.

        Parameters
        ----------
        path : path-like
            File to write. Models that a page cannot ask by itself have none.
        """
        if self._page is None:
            raise _engine.HingenetError(
                f"a page cannot ask {self._spec.split(',')[0]} without Python\nhint: open `url` in a browser"
            )
        _engine.write_text(os.fspath(path), self._page)

    def close(self) -> None:
        """End the server, if there is one; the page gets no more answers from it."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _repr_html_(self) -> str:
        # Neither frame may touch the notebook: the text has no origin of its own, and the server's is another than the
        # notebook's, so it may keep it, which it needs to ask.
        if self._page is not None:
            # links inside the page would else lead to the notebook
            page = self._page.replace("<head>", '<head><base href="about:srcdoc">', 1)
            sandbox, source = "allow-scripts allow-downloads", f'srcdoc="{html.escape(page)}"'
        else:
            sandbox = "allow-scripts allow-downloads allow-same-origin"
            source = f'src="{html.escape(self.url)}"'
        title = html.escape(f"Explorer of {self._spec}")
        return (
            f'<iframe title="{title}" sandbox="{sandbox}" width="100%" height="{int(self.height)}" '
            f'style="border: 0" {source}></iframe>'
        )

    def __repr__(self) -> str:
        return f"ExplorerPage({self._spec!r})"
