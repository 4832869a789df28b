"""Converters of `repurposing`: how original files become its arrays; one module per way."""
