"""Checks: one file for each kind of claim, argument and omission that a run can have. Nothing is searched."""
