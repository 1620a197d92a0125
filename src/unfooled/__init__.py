"""How robust is a text classifier to word substitutions, with what guarantee?"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from unfooled import assets, candidates, data, exports, models, swaps
    from unfooled.audited import Audit, Audited
    from unfooled.auditing import audit
    from unfooled.errors import UnfooledError
    from unfooled.estimates import Estimated, estimate
    from unfooled.evidence import Bracket
    from unfooled.limit_sweep import sweep
    from unfooled.minima import Minima, Minimum
    from unfooled.outcomes import Outcome, Outcomes
    from unfooled.proofs import Verdict, certify
    from unfooled.runner import attack
    from unfooled.space import Space
    from unfooled.text import Example, Text
    from unfooled.victims import Victim, load, victim

_HOMES = {
    "Audit": "audited",
    "Audited": "audited",
    "Bracket": "evidence",
    "Estimated": "estimates",
    "Verdict": "proofs",
    "audit": "auditing",
    "certify": "proofs",
    "estimate": "estimates",
    "Example": "text",
    "Minima": "minima",
    "Minimum": "minima",
    "Outcome": "outcomes",
    "Outcomes": "outcomes",
    "Space": "space",
    "Text": "text",
    "UnfooledError": "errors",
    "Victim": "victims",
    "attack": "runner",
    "load": "victims",
    "sweep": "limit_sweep",
    "victim": "victims",
}

__all__ = [
    "Audit",
    "Audited",
    "Bracket",
    "Estimated",
    "Example",
    "Minima",
    "Minimum",
    "Outcome",
    "Outcomes",
    "Space",
    "Text",
    "UnfooledError",
    "Verdict",
    "Victim",
    "assets",
    "attack",
    "audit",
    "candidates",
    "certify",
    "data",
    "estimate",
    "exports",
    "load",
    "models",
    "swaps",
    "sweep",
    "victim",
]


def __getattr__(name: str) -> Any:
    """Imports each part when it is first asked for."""
    if name in _HOMES:
        return getattr(import_module(f"unfooled.{_HOMES[name]}"), name)
    if name in __all__:
        return import_module(f"unfooled.{name}")
    raise AttributeError(f"module 'unfooled' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
