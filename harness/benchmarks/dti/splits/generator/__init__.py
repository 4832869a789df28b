"""The generator of BETA's tasks: bindings, folds, spaces of pairs and negatives."""
