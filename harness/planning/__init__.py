"""What should be run: jobs, suites, the plan, and what stands in its way."""
