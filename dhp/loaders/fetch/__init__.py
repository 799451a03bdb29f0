"""Downloads of datasets, checked, unpacked and saved as a prepared copy."""
