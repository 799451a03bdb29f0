"""Results for people: a table in the terminal, a page for the browser."""
