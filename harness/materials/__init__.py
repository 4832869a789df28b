"""What images are made of, for others' tools: bills of materials, provenance, and updates that archives have."""
