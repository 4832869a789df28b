"""The study of collaborative filters, made again."""
