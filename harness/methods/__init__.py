"""The registry of methods: cards, their page, weights, skeletons, and which variant is recommended."""
