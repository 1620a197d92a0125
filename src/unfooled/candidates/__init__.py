"""What may replace what: sources of candidate words, their filters and combinations.

`load("wordnet:k=8 & embedding|pos")` and the like; the files of this folder are the names.
"""

from unfooled.candidates._source import Candidate, Row, Source, explain
from unfooled.candidates._spec import filters, load, names, narrowed

__all__ = ["Candidate", "Row", "Source", "explain", "filters", "load", "names", "narrowed"]
