"""compaction-conformance-kit's side of its row: its own corpus command for every compactor but one, in one process.

    kit_corpus.py SEEDS

Left out: semantic-checklist, which takes two hundred times the CPU of the others and would flatter
whatever stands beside it.
"""

import sys

from compaction_kit import cli

for name in cli.COMPACTORS:
    if name != "semantic-checklist":
        cli.main(["corpus", "--seeds", sys.argv[1], "--generated", "--compactor", name])
