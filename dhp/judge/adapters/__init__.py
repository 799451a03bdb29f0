"""Judges that people already use: functions and the scorers of evaluation frameworks."""
