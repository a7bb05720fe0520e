"""Public failure cases of this field, each a test named after it, run on real adapters."""
