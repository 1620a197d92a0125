"""Sentence encoders by name: minilm, use, or the folder of any Hugging Face encoder."""

from __future__ import annotations

from pathlib import Path

from unfooled import assets
from unfooled.companions import Encodes
from unfooled.errors import InputError, did_you_mean

NAMES = ("minilm", "use")


def load_encoder(name: str, *, device: str | None = None) -> Encodes:
    """The encoder of that name; else that in a Hugging Face folder, or of the hub as hf:NAME.

    `device` is where it runs; the Universal Sentence Encoder needs torch on another than the CPU.
    """
    if name == "use":
        from unfooled.encoders.universal import UniversalEncoder

        return UniversalEncoder.load(assets.get("use"), device=device)
    from unfooled.encoders.huggingface import HuggingFaceEncoder
    from unfooled.hub import fetch

    if name == "minilm":
        return HuggingFaceEncoder.load(assets.get("minilm"), device=device)
    if name.startswith("hf:"):
        return HuggingFaceEncoder.load(fetch(name.removeprefix("hf:")), device=device)
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise InputError(
            f"there is no sentence encoder {name!r}, nor a folder of that name; "
            f"{did_you_mean(name, NAMES)}"
        )
    return HuggingFaceEncoder.load(folder, device=device)
