"""Lexical resources: WordNet, word vectors, a part-of-speech tagger, sememe tables, inflection."""
