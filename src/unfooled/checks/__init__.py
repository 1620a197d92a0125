"""Checks: one file for each kind of argument that a certificate can rest on. Nothing is searched."""
