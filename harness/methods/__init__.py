"""The registry of methods: cards, their pages, weights, skeletons, checkouts of the authors' code."""
