"""Reports: tables for the terminal, pages for the browser."""
