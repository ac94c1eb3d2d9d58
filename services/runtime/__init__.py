"""Process plumbing: settings, gRPC scaffold, clock and entropy ports, telemetry, routing."""
