"""The command line: a file for each mode of `puffer`."""
