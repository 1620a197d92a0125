"""Hugging Face encoders: the mean of the token vectors, of length 1."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unfooled.companions import EncodesRows, Floats
from unfooled.counting import Rows
from unfooled.devices import usable
from unfooled.fingerprints import path_fingerprint
from unfooled.space import Space
from unfooled.victims.base import Part
from unfooled.victims.encoder import Encoded, Encoder
from unfooled.victims.frames import pack
from unfooled.victims.huggingface import assembled, memory_errors
from unfooled.victims.inputs import padded
from unfooled.victims.pretrained import Body, open_encoder
from unfooled.victims.token_table import TokenTable, token_tables


class HuggingFaceEncoder(EncodesRows):
    """The mean of the last layer over all tokens, special ones included, divided by its length.

    This is what the pooling and normalising modules in the folder of all-MiniLM-L6-v2 ask for.
    """

    def __init__(
        self,
        model: Body,
        *,
        name: str,
        fingerprint: str | None = None,
        device: str | None = None,
    ) -> None:
        self.name, self._fingerprint = name, fingerprint
        self.device = usable(device)
        self.network: Any = model.network.to(self.device).eval()
        self.tokens = Encoder(model.tokenizer, limit=model.limit)
        self.batch_rows = 128 if self.device.type == "cpu" else 1024
        self._pad = pack([self.network.config.pad_token_id or 0])

    @classmethod
    def load(cls, folder: Path | str, *, device: str | None = None) -> HuggingFaceEncoder:
        """The encoder in a Hugging Face folder."""
        folder = Path(folder)
        model, files = open_encoder(folder), path_fingerprint(folder)
        return cls(model, name=folder.name, fingerprint=files, device=device)

    @property
    def fingerprint(self) -> str | None:
        return self._fingerprint

    def encode(self, texts: Sequence[str]) -> Floats:
        return self._vectors(self.tokens.encode(texts))

    def prepare(self, space: Space) -> TokenTable:
        return token_tables([space], self.tokens)()[0]

    def encode_rows(self, parts: Sequence[tuple[Any, Rows]]) -> Floats:
        return self._vectors(assembled([Part(*part) for part in parts]))

    def _vectors(self, rows: Encoded) -> Floats:
        """In batches of similar length, each padded to its longest."""
        out = np.empty((len(rows.ids), int(self.network.config.hidden_size)), dtype=np.float32)
        order = sorted(range(len(rows.ids)), key=lambda i: len(rows.ids[i]))
        for start in range(0, len(order), self.batch_rows):
            chosen = order[start : start + self.batch_rows]
            types = [rows.types[i] for i in chosen] if rows.types else []
            out[chosen] = self._means(Encoded([rows.ids[i] for i in chosen], types))
        return out

    def _means(self, rows: Encoded) -> Floats:
        inputs = padded(rows, pad=self._pad, left=self.tokens.pad_left, device=self.device)
        with memory_errors(), torch.inference_mode():
            hidden = self.network(**inputs).last_hidden_state.float()  # (n, tokens, d)
            mask = inputs.get("attention_mask")
            if mask is not None:
                hidden = hidden * mask[:, :, None]
            # The mean and the sum point the same way, and only the direction is kept.
            total = torch.nn.functional.normalize(hidden.sum(dim=1), dim=1)
            found: Floats = total.cpu().numpy()
        return found
