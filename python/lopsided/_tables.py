"""Tables for models of the program `lopsided`, which learn from named columns of numbers and words."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._inputs import Given, feature_names, is_sparse

#: Names of the columns that a model knows, and whether they hold words.
Known = list[tuple[str, bool]]


def is_table(X: Any, known: Known) -> bool:
    """Whether X has names of its own, or words that a model needs."""
    return not is_sparse(X) and (feature_names(X) is not None or any(words for _, words in known))


def table_given(X: Any, known: Known, single: bool) -> Given:
    """The columns that a model knows: by name of a frame, by place of an array."""
    columns = _columns(X, known)
    kinds = dict(known)
    words = {name: _words(values) for name, values in columns if kinds[name]}
    rows = len(columns[0][1])
    x = np.full((rows, len(columns)), np.nan, dtype=np.float32 if single else np.float64)
    for at, (name, values) in enumerate(columns):
        if name not in words:
            x[:, at] = _numbers(name, values)
    return Given(single=single, x=x, columns=[(name, words.get(name)) for name, _ in columns])


def _columns(X: Any, known: Known) -> list[tuple[str, Any]]:
    names = feature_names(X)
    if names is None:
        array = np.asarray(X, dtype=object)
        if array.ndim != 2 or array.shape[1] != len(known):
            wanted = ", ".join(name for name, _ in known)
            raise ValueError(f"X has shape {array.shape} but the model expects {len(known)} columns: {wanted}")
        return [(name, array[:, at]) for at, (name, _) in enumerate(known)]
    missing = [name for name, _ in known if name not in set(names)]
    if missing:
        raise ValueError(f"X has no column {', '.join(repr(name) for name in missing)}; it has {', '.join(names)}")
    return [(name, _values(X, name)) for name, _ in known]


def _values(frame: Any, name: str) -> Any:
    column = frame.column(name) if hasattr(frame, "column_names") else frame[name]  # pyarrow has no items by name
    return column.to_pylist() if hasattr(column, "to_pylist") else column.to_numpy()


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value


def _words(values: Any) -> list[str | None]:
    """Texts as the program reads them: whole numbers without fraction, flags in lower case."""
    def word(value: Any) -> str | None:
        if _is_missing(value):
            return None
        if isinstance(value, (bool, np.bool_)):
            return str(bool(value)).lower()
        if isinstance(value, (float, np.floating)) and float(value).is_integer():
            return str(int(value))
        return str(value).strip()

    return [word(value) for value in values]


def _numbers(name: str, values: Any) -> np.ndarray:
    try:
        return np.asarray([np.nan if _is_missing(value) else value for value in values], dtype=np.float64)
    except (TypeError, ValueError):
        odd = next(value for value in values if isinstance(value, str))
        raise ValueError(f"column {name!r} holds {odd!r} where numbers were learned") from None
