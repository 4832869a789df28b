"""The self-test of methods of `ddi`: made-up problems, and what a method must do with them."""
