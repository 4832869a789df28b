"""What drug splits are made of: similarities, clusters, dealing groups to roles, and the parts that follow."""
