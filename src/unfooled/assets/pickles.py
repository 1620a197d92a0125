"""Reads a foreign pickle of plain containers without giving it the power to run anything."""

from __future__ import annotations

import io
import pickle

from unfooled.errors import AssetError

# Python 2 wrote `__builtin__`; sets are the only containers that older protocols name as globals.
_ALLOWED = {
    (module, kind.__name__): kind
    for module in ("builtins", "__builtin__")
    for kind in (set, frozenset)
}


class _Containers(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> type:
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise AssetError(
                f"refused a pickle that asks for {module}.{name}: only plain containers are read"
            ) from None


def containers(content: bytes, *, origin: str) -> object:
    """The object in a pickle made of numbers, strings, tuples, lists, dicts and sets alone."""
    try:
        return _Containers(io.BytesIO(content), encoding="utf-8").load()
    except AssetError as error:
        raise AssetError(f"{origin}: {error}") from None
    except Exception as error:  # a broken pickle may raise nearly anything
        raise AssetError(f"{origin} is not a readable pickle: {error}") from error
