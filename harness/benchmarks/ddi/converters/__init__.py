"""Converters of `ddi`: how original files become its arrays; one module per way."""
