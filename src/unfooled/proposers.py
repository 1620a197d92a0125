"""Proposers: masked language models that an attack asks at every step, and what a source lets pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from unfooled.candidates import Source
from unfooled.companions import Proposal, Proposes, Request

Model = str | Proposes | Callable[[], Proposes]


class Sifted:
    """A masked language model without the proposals that a source of candidates would reject.

    The k likeliest words are sifted, so fewer than k may be left: as in the sources, where k words are
    looked up first and then filtered.
    """

    def __init__(self, model: Proposes, source: Source) -> None:
        self.name, self.batch_rows = model.name, model.batch_rows
        self._model, self._source = model, source

    def propose(self, requests: Sequence[Request]) -> list[list[Proposal]]:
        """At most k proposals for each request, best first."""
        # Not strict: whoever asks says what is wrong with a model that answers too few or too many.
        pairs = zip(requests, self._model.propose(requests), strict=False)
        return [self._kept(request, list(found)) for request, found in pairs]

    def _kept(self, request: Request, found: list[Proposal]) -> list[Proposal]:
        words = [proposal.word for proposal in found]
        kept = set(self._source.keep(request.text, request.position, words))
        return [proposal for proposal in found if proposal.word in kept]


def proposer(
    masked: Model, *, source: Source | None, device: str | None
) -> Proposes | Callable[[], Proposes]:
    """A masked language model, or how to load it when it is first asked for; sifted by a source."""
    if source is not None:
        return partial(_sifted, masked, source, device)
    return partial(_loaded, masked, device) if isinstance(masked, str) else masked


def identity(masked: Model) -> str | None:
    """The fingerprint of a masked language model, loaded or not; None: it has none."""
    if isinstance(masked, str):
        from unfooled.lexicon import masked_networks  # imports torch

        return masked_networks.fingerprint(masked)
    found: str | None = getattr(masked, "fingerprint", None)
    return found


def _loaded(masked: Model, device: str | None) -> Proposes:
    if isinstance(masked, str):
        from unfooled.lexicon import masked_lm  # imports torch

        return masked_lm.load(masked, device=device)
    return masked if isinstance(masked, Proposes) else masked()


def _sifted(masked: Model, source: Source, device: str | None) -> Proposes:
    return Sifted(_loaded(masked, device), source)
