"""Metrics of `repurposing`, each as it is defined and as it was published."""
