"""How the candidates of the papers' attacks are spelled: shared by attacks and presets.

`{k}` is left open where a paper varies the number of candidates.
"""

from __future__ import annotations

from typing import Final

_FITTED = "vectors=glove-50-counter-fitted"
AUTHORS: Final = (
    "stopwords=stopwords-textfooler"  # the list in the code of TextFooler and BERT-Attack
)

NEAREST: Final = f"embedding:k={{k}},min_similarity=-1,{_FITTED}"
WITHIN: Final = f"embedding:k={{k}},metric=euclidean,max_distance=0.7071,{_FITTED}"  # squared: 0.5
TYPOS: Final = "typos:k={k},kinds=swap/substitute/delete/insert,inner=false"
BUGS: Final = "typos:k=5,kinds=space/delete/swap/homoglyph/keyboard"  # one of each
MASKED: Final = "masked_lm:k={k}"
MASKED_OUT: Final = "masked_lm:k={k},masked=true"
SAME_POS: Final = "|pos:noun_verb=true"  # a verb may stand for a noun, as in TextFooler and BAE
SYNONYMS: Final = "wordnet:k=1000,same_pos=false,rank=sense,names=true"  # all, of all senses

# What an attack searches unless it is told.
TEXTFOOLER: Final = f"embedding:k=50,min_similarity=0.5,{_FITTED},{AUTHORS}{SAME_POS}"
GENETIC: Final = WITHIN.format(k=8)
IGA: Final = WITHIN.format(k=50)
TEXTBUGGER: Final = f"{BUGS} + embedding:k=5,min_similarity=-1"
DEEPWORDBUG: Final = TYPOS.format(k=4)  # one of each kind
BERT_ATTACK: Final = f"{MASKED.format(k=48)},{AUTHORS}"
BAE: Final = MASKED_OUT.format(k=50) + SAME_POS
PWWS: Final = "wordnet:k=1000,rank=sense,names=true"  # of the word's part of speech alone
MCTS: Final = "embedding:k=1000,metric=euclidean|pos:noun_to_adjective=true"
