"""What all tests share: random tests judge what the code does, never how fast a busy machine does it."""

from hypothesis import HealthCheck, settings

settings.register_profile("holecard", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("holecard")
