"""Plain references, written from the papers' formulas and from nothing else: dense matrices, loops, library decompositions."""
