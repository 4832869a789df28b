"""BETA's generator of tasks, and the promises that its splits keep."""
