"""Split strategies of `dti`, one module each, found by being here."""
