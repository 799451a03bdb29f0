"""The vocabulary of all other folders: records, specs, texts, files; it imports no other folder."""
