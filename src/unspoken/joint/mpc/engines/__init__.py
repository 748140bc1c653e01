"""Other engines under the same shares, each in a folder of its own."""
