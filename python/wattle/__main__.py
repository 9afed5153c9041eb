"""Runs the lab as `python -m wattle`."""

from wattle.cli import main

if __name__ == "__main__":
    main()
