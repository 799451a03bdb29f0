"""Statistics of discernment: functions of arrays, without models or files."""
