"""Rows of token ids as the tensors that a Hugging Face model takes."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unfooled.victims.encoder import Encoded
from unfooled.victims.frames import ITEM
from unfooled.victims.transfer import sent


def padded(
    rows: Encoded, *, pad: bytes, left: bool, device: torch.device, width: int | None = None
) -> dict[str, Tensor]:
    """One padded batch; a mask only where there is padding, types only where there are several.

    `width`: so many tokens, and always a mask.
    """
    lengths = list(map(len, rows.ids))
    longest, ids = max(lengths) if width is None else width * ITEM, rows.ids
    inputs = {}
    if width is not None or min(lengths) < longest:
        padding = pad * (longest // ITEM)
        if left:
            ids = [padding[len(row) :] + row for row in rows.ids]
        else:
            ids = [row + padding[len(row) :] for row in rows.ids]
        inputs["attention_mask"] = sent(_mask(lengths, longest, left=left), device)
    numbers = np.frombuffer(bytearray().join(ids), dtype=np.int64)
    inputs["input_ids"] = sent(numbers.reshape(len(lengths), -1), device)
    if rows.types:
        adjust = bytes.rjust if left else bytes.ljust
        types = b"".join([adjust(row, longest // ITEM, b"\0") for row in rows.types])
        kinds = np.frombuffer(types, dtype=np.uint8).astype(np.int64)
        inputs["token_type_ids"] = sent(kinds.reshape(len(lengths), -1), device)
    return inputs


def _mask(lengths: list[int], longest: int, *, left: bool) -> NDArray[np.int64]:
    tokens, width = np.array(lengths)[:, None] // ITEM, longest // ITEM
    at = np.arange(width)
    real = at >= width - tokens if left else at < tokens
    return real.astype(np.int64)
