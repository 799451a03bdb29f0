"""Conversations and transcripts of agents, degraded turn by turn."""
