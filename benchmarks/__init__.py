"""Ratios against the limit and against peers, each measured inside one run."""
