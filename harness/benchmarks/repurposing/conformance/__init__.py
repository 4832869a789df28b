"""The self-test of methods of `repurposing`: made-up problems, and what a method must do with them."""
