"""The second opinion: projections, laws, replay. Changes nothing."""
