"""Equipoise: is a language model neutral, even-handed and factual on political questions?"""

__version__ = "0.1.0"
