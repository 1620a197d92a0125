"""Bounds on what a network computes over all texts of a space: pure functions of arrays, in float64."""
