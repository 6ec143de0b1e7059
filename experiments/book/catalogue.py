"""All pieces of all papers."""
import functools

import peharz
import pieces
import tenzer
import zhou
from pieces import Context, Piece

PAPERS = (peharz, tenzer, zhou)


@functools.cache
def every() -> dict[str, Piece]:
    return {piece.name: piece for paper in PAPERS for piece in paper.pieces()}


def run_named(context: Context, version: str, folder, name: str) -> float:
    """Runs the piece of this name, for processes that were given a name only."""
    return pieces.run_piece(every()[name], context, version, folder)
