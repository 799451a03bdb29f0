"""The request engine: many calls at once to one server, with retries and limits."""
