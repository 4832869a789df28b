"""From a planned job to its record: inputs, containers, campaigns, trials."""
