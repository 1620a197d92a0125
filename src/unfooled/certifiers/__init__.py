"""Certifiers: one file each, found by name. A certifier proves that no text within a radius fools."""
