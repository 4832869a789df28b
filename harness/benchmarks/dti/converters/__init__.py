"""Converters of `dti`: how original files become its arrays; one module per way."""
