"""What the commands of `harness split` share, and those that measure."""
