"""What every Hugging Face model needs: fetching, loading without noise, how many tokens it reads."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from unfooled.errors import InputError, MissingExtra

try:
    import transformers
except ImportError as error:
    raise MissingExtra("a Hugging Face model", "hf") from error

_FILES = ["*.json", "*.safetensors", "*.txt", "*.model"]  # what a hub model may consist of
# Position embeddings that start after the padding index, which model_max_length may not know.
_SHIFTED = ("roberta", "camembert", "longformer", "bigbird_roberta")


def fetch(name: str, *, what: str = "model") -> Path:
    """The folder of a hub model, fetched if needed."""
    from huggingface_hub import errors, snapshot_download

    try:
        with quiet():
            return Path(snapshot_download(name, allow_patterns=_FILES))
    except errors.RepositoryNotFoundError as error:
        raise InputError(f"the hub has no {what} {name!r} (or it is private)") from error
    except (errors.HFValidationError, ValueError) as error:
        raise InputError(f"{name!r} is not the name of a hub model: expected owner/name") from error
    except (errors.HfHubHTTPError, errors.LocalEntryNotFoundError, OSError) as error:
        raise InputError(
            f"{name!r} is not in the local cache and the Hugging Face hub cannot be reached: "
            "give a local folder, or try again online"
        ) from error


def token_limits(config: Any, tokenizer: Any) -> list[int]:
    """How many tokens the tokenizer and, where it has a limit, the model allow."""
    limits = [int(tokenizer.model_max_length)]
    positions = getattr(config, "max_position_embeddings", None)
    if positions and positions > 0:
        shifted = any(kind in config.model_type.replace("-", "_") for kind in _SHIFTED)
        limits.append(positions - (config.pad_token_id + 1 if shifted else 0))
    return limits


@contextmanager
def quiet() -> Iterator[None]:
    """Without bars and without the report of what was loaded: errors say what matters."""
    log = transformers.utils.logging
    level, bars = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity(logging.CRITICAL)
    log.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        log.set_verbosity(level)
        if bars:
            log.enable_progress_bar()  # type: ignore[no-untyped-call]
