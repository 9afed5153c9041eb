"""The functions and classes of `import wattle`."""
