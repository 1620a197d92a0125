"""Scores of many neighbours of one text for less than a forward each: one file per architecture.

A sweep walks through regions of a space (`regions`), has the features of a whole region computed at
once (`mlp`, `cnn`, `recurrent`) and judges them where they are (`sweep`).
"""
