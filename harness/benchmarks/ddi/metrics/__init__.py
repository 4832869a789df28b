"""Metrics of `ddi`, each as it is defined and as it was published."""
