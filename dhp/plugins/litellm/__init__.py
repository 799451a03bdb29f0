"""Language models of all providers that the package litellm knows."""
