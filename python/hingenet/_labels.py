"""Texts of class labels and categories: the same in model files, on the command line and in Python."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


def text_of(value: Any) -> str:
    """Text of a label or category: whole numbers without a decimal point, everything else by ``str``."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    return str(value)


def texts_of(values: Iterable[Any]) -> list[str]:
    """Texts of distinct class labels, which must stay distinct."""
    texts = [text_of(value) for value in values]
    if len(set(texts)) < len(texts):
        raise ValueError("two class labels have the same text; give labels that differ as text")
    return texts


def labels_of(texts: list[str]) -> np.ndarray:
    """Class labels of a model file: whole numbers or booleans if every text is one, else texts."""
    if set(texts) <= {"False", "True"}:
        return np.array([text == "True" for text in texts])
    try:
        numbers = [int(text) for text in texts]
    except ValueError:
        return np.array(texts)
    same = all(str(number) == text for number, text in zip(numbers, texts, strict=True))
    return np.array(numbers) if same and all(abs(n) < 2**63 for n in numbers) else np.array(texts)
