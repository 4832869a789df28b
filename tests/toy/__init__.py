"""A benchmark that is nothing like the others, added as folders to a copy of the repository."""
