"""People's scores: blind sheets, and how far people and evaluators agree."""
