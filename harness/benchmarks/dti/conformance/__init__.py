"""The self-test of methods of `dti`: made-up problems, and what a method must do with them."""
