"""Devices that networks run on, by name."""

from __future__ import annotations

import torch

from unfooled.errors import InputError


def usable(name: str | None) -> torch.device:
    """The device of that name, once a number has been put there and read back; None is the CPU."""
    try:
        place = torch.zeros(1, device="cpu" if name is None else name)
        place.item()
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"the device {name!r} cannot be used: {reason}; try cpu, cuda or mps"
        ) from error
    return place.device
