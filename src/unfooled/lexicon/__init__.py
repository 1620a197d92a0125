"""Lexical resources: WordNet, word vectors and their fitting, a tagger, sememes, inflection, edits."""
