"""How robust is a text classifier to word substitutions, with what guarantee?"""

__version__ = "0.1.0"
