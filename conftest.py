"""Loads the plugin; everything else is in the package."""

pytest_plugins = ["equipoise.plugin"]
