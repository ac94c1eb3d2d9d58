"""The web pages for surveillance, pit and ops."""
