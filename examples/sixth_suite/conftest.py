"""Loads the plugin, which finds the suite of this project."""

pytest_plugins = ["equipoise.plugin"]
