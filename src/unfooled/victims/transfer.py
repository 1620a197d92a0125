"""Arrays to a device and back, without waiting for what it is doing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from unfooled.victims.base import Floats


def sent(values: NDArray[Any], device: torch.device) -> Tensor:
    """The array on the device; a GPU fetches it when its turn comes."""
    given = torch.from_numpy(values)
    if device.type != "cuda":
        return given.to(device)
    pinned = torch.empty(given.shape, dtype=given.dtype, pin_memory=True)
    # Copied by numpy: torch would wake a pool of threads, and they stay awake beside this one.
    pinned.numpy()[...] = values
    return pinned.to(device, non_blocking=True)


def begun(scores: Tensor) -> Callable[[], Floats]:
    """Starts to bring scores back from a device; the handle waits for them."""
    if scores.device.type != "cuda":
        found: Floats = scores.cpu().numpy()
        return lambda: found
    out = torch.empty(scores.shape, dtype=scores.dtype, pin_memory=True)
    out.copy_(scores, non_blocking=True)
    done = torch.cuda.Event()  # type: ignore[no-untyped-call]
    done.record()

    def wait() -> Floats:
        done.synchronize()
        kept: Floats = out.numpy()
        return kept

    return wait
