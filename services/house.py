"""Which rooms a process hosts, and how they find each other."""
