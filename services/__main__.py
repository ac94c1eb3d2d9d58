"""`python -m services` is the command `holecard`."""

from services.cli import main

if __name__ == "__main__":
    main()
