"""Victims: classifiers under test, each behind the same few calls."""

from __future__ import annotations

from unfooled.victims.base import Differentiable, Part, Prepared, Victim
from unfooled.victims.specs import FORMS, load, victim

__all__ = ["FORMS", "Differentiable", "Part", "Prepared", "Victim", "load", "victim"]
