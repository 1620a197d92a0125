"""Hugging Face sequence classifiers as victims: rows become token ids without tokenising again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from unfooled.devices import usable
from unfooled.errors import OutOfMemory
from unfooled.fingerprints import path_fingerprint, value_fingerprint
from unfooled.space import Space
from unfooled.text import Source
from unfooled.victims.base import Differentiable, Floats, Part, Sensitive
from unfooled.victims.blocks import blocks
from unfooled.victims.encoder import Encoded, Encoder
from unfooled.victims.frames import ITEM, pack
from unfooled.victims.inputs import padded
from unfooled.victims.pretrained import Classifier, open_folder
from unfooled.victims.token_table import TokenTable, token_tables
from unfooled.victims.transfer import begun
from unfooled.victims.word_slopes import Spelled, candidate_means, read_spelled, slopes_by_choice

_KERNELS = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
_MEMORY = ("out of memory", "can't allocate memory", "not enough memory")


class HuggingFaceVictim(Differentiable, Sensitive):
    """A sequence classifier and its tokenizer; scores are float32 logits."""

    def __init__(
        self,
        model: Classifier,
        *,
        name: str,
        fingerprint: str | None = None,
        device: str | None = None,
    ) -> None:
        self.name, self.labels, self._fingerprint = name, model.labels, fingerprint
        self.device = usable(device)
        self.network: Any = model.network.to(self.device).eval()
        first = next(self.network.parameters(), None)
        self.dtype = None if first is None else str(first.dtype).removeprefix("torch.")
        alone = self.device.type == "cpu"
        self.encoder = Encoder(model.tokenizer, limit=model.limit, aside=not alone)
        self.depth = 4 if self.device.type == "cuda" else 0
        self.batch_rows = 128 if alone else 2048
        self.batch_tokens = None if alone else 1 << 16
        pad = self.network.config.pad_token_id
        self._pad = pack([0 if pad is None else pad])

    @classmethod
    def load(
        cls,
        folder: Path | str,
        *,
        device: str | None = None,
        dtype: str = "float32",
        name: str | None = None,
    ) -> HuggingFaceVictim:
        """The classifier in a Hugging Face folder."""
        folder = Path(folder)
        model, files = open_folder(folder, dtype=dtype), path_fingerprint(folder)
        whole = files if dtype == "float32" else value_fingerprint([files, dtype])
        return cls(model, name=name or folder.name, fingerprint=whole, device=device)

    @property
    def fingerprint(self) -> str | None:
        return self._fingerprint

    @property
    def unknown(self) -> str:
        """What stands for an unknown word: the tokenizer's own token, else its mask or padding."""
        return self.encoder.unknown

    # --- strings ------------------------------------------------------------------------------

    def scores(self, sources: Sequence[Source]) -> Floats:
        """In batches of similar length, each padded to its longest."""
        out = np.empty((len(sources), len(self.labels)), dtype=np.float32)
        rows = self.encoder.encode(sources)
        order = sorted(range(len(sources)), key=lambda i: len(rows.ids[i]))
        for start in range(0, len(order), self.batch_rows):
            chosen = order[start : start + self.batch_rows]
            types = [rows.types[i] for i in chosen] if rows.types else []
            out[chosen] = self._start(Encoded([rows.ids[i] for i in chosen], types))()
        return out

    def alone(self, sources: Sequence[Source]) -> Floats:
        """One by one, or on another device, where a call costs more than a text, in `blocks`."""
        return super().alone(sources) if self.device.type == "cpu" else self.in_blocks(sources)

    def in_blocks(self, sources: Sequence[Source]) -> Floats:
        """The scores of texts in blocks of one shape."""
        out = np.empty((len(sources), len(self.labels)), dtype=np.float32)
        rows = self.encoder.encode(sources)
        lengths = [len(ids) // ITEM for ids in rows.ids]
        waiting = []
        for texts, filled, width in blocks(lengths, limit=self.encoder.limit):
            types = [rows.types[i] for i in filled] if rows.types else []
            encoded = Encoded([rows.ids[i] for i in filled], types)
            waiting.append((texts, self._start(encoded, width=width)))
        for texts, scores in waiting:
            out[texts] = scores()[: len(texts)]
        return out

    # --- rows ---------------------------------------------------------------------------------

    def prepare(self, space: Space) -> TokenTable:
        return self.prepare_all([space])()[0]

    def prepare_all(self, spaces: Sequence[Space]) -> Callable[[], list[TokenTable]]:
        return token_tables(spaces, self.encoder)

    def submit(self, parts: Sequence[Part]) -> Callable[[], Floats]:
        return self._start(assembled(parts))

    def _start(self, rows: Encoded, *, width: int | None = None) -> Callable[[], Floats]:
        with memory_errors(), torch.inference_mode(), any_shape(self.device):
            logits: Tensor = self.network(**self._inputs(rows, width=width)).logits
            scores = begun(logits.float())

        def wait() -> Floats:
            with memory_errors():
                return scores()

        return wait

    def _inputs(self, rows: Encoded, *, width: int | None = None) -> dict[str, Tensor]:
        left = self.encoder.pad_left
        return padded(rows, pad=self._pad, left=left, device=self.device, width=width)

    # --- gradients ----------------------------------------------------------------------------

    def gradients(self, parts: Sequence[Part], of: Sequence[int]) -> list[Floats]:
        spelled = [read_spelled(p.prepared.space, p.rows, encoder=self.encoder) for p in parts]
        wanted = np.repeat(np.array(of, dtype=np.int64), [len(p.rows) for p in parts])
        slopes, vectors = self._slopes(spelled, wanted)
        found, start = [], 0
        for part, rows in zip(parts, spelled, strict=True):
            stop = start + len(part.rows)
            table: TokenTable = part.prepared
            if table.means is None:
                table.means = candidate_means(table.space, self._vectors, encoder=self.encoder)
            block = slopes[start:stop], vectors[start:stop]
            left = self.encoder.pad_left
            found.append(
                slopes_by_choice(rows, *block, means=table.means, space=table.space, pad_left=left)
            )
            start = stop
        return found

    def sensitivity(self, prepared: TokenTable, of: int) -> Floats:
        rows = prepared.space.rows(prepared.space.origin)
        spelled = read_spelled(prepared.space, rows, encoder=self.encoder)
        slopes, _ = self._slopes([spelled], np.array([of]))
        sizes = np.abs(slopes[0]).sum(axis=1)  # (tokens,); alone in its batch, so without padding
        return np.array([sizes[places].sum() for places in spelled.places[0]])

    def _vectors(self, ids: NDArray[np.int64]) -> Floats:
        with torch.no_grad():
            numbers = torch.tensor(ids, device=self.device)
            found: Tensor = self.network.get_input_embeddings()(numbers)
        return found.float().cpu().numpy()

    def _slopes(self, spelled: Sequence[Spelled], of: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """(rows, tokens, d) gradients of the scores `of` and the token vectors they belong to."""
        kept: list[Tensor] = []

        def hold(_module: Any, _inputs: Any, out: Tensor) -> Tensor:
            kept.append(out.detach().requires_grad_())
            return kept[-1]

        rows = Encoded(
            list(chain.from_iterable(s.encoded.ids for s in spelled)),
            list(chain.from_iterable(s.encoded.types for s in spelled)),
        )
        hook = self.network.get_input_embeddings().register_forward_hook(hold)
        try:
            with memory_errors(), torch.enable_grad():
                logits: Tensor = self.network(**self._inputs(rows)).logits
                wanted = torch.from_numpy(of).to(self.device)[:, None]
                (slopes,) = torch.autograd.grad(logits.gather(1, wanted).sum(), kept[0])
        finally:
            hook.remove()
        return slopes.float().cpu().numpy(), kept[0].detach().float().cpu().numpy()


def assembled(parts: Sequence[Part]) -> Encoded:
    """The token ids of the rows of all parts."""
    ids: list[bytes] = []
    types: list[bytes] = []
    for prepared, rows in parts:
        found = prepared.lines(rows)
        ids += found.ids
        types += found.types or []
    # Single texts have no types to tell, pairs may: in a batch of both all are spelled out.
    if types and len(types) < len(ids):
        types = [t for p, r in parts for t in _types(p.lines(r))]
    return Encoded(ids, types)


def _types(rows: Encoded) -> list[bytes]:
    return rows.types or [bytes(len(row) // ITEM) for row in rows.ids]


def any_shape(device: torch.device) -> AbstractContextManager[object]:
    """Attention by kernels that take batches of any shape.

    In half precision cuDNN's may be chosen, which plan every new shape for some tenths of a second.
    """
    return nullcontext() if device.type != "cuda" else sdpa_kernel(_KERNELS)


@contextmanager
def memory_errors() -> Iterator[None]:
    """Turns every way of running out of memory into OutOfMemory."""
    try:
        yield
    except MemoryError as error:
        raise OutOfMemory("the machine is out of memory") from error
    except RuntimeError as error:  # torch.OutOfMemoryError is one, the CPU's has no type of its own
        if isinstance(error, torch.OutOfMemoryError) or any(s in str(error) for s in _MEMORY):
            raise OutOfMemory(str(error).splitlines()[0]) from error
        raise
