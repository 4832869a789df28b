"""Split strategies of `repurposing`, one module each, found by being here."""
