"""Measurements of the project; nothing here is part of the installed package."""
