"""Split strategies of `ddi`, one module each, found by being here."""
