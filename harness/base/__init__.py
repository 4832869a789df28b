"""What every other part stands on: errors, files, layout, words, logs, progress. Imports nothing else of ours."""
