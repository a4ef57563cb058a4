"""Stress and fault scripts: the tool as its users meet it, under load, crashes, failing disks and hostile settings."""
