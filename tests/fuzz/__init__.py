"""Coverage-guided search for input that breaks a reader: `python -m tests.fuzz` (docs/testing.md, Fuzzing)."""
