"""Exact least fooling swaps of piecewise-linear networks: the problem, its solvers."""
