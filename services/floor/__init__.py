"""The edge of a casino: simulated floors that play through the public API."""
