"""Sphinx configuration; what the reference pages list is read from the code when they are built."""

from __future__ import annotations

import sys
from pathlib import Path

from unfooled import __version__

sys.path.insert(0, str(Path(__file__).parent))

project = "unfooled"
author = "the unfooled authors"
copyright = author
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "generated_tables"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]

# Docstrings are written for reading in an editor: single backquotes mean code.
default_role = "literal"
smartquotes = False  # --option is not a dash and an option
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "mixed"
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = "unfooled"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_copy_source = False
html_show_sphinx = False
