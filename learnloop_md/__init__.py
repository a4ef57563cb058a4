"""A markdown-native, git-tracked memory for Claude Code and agent skills."""

__version__ = "0.1.0"
