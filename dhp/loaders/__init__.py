"""Published formats and the user's own files in, examples out."""
