"""The door of the `assay` command, also by `python -m assay`. It is quiet when interrupted, even while it imports."""

import sys


def main() -> None:
    """Run the command and exit with its status."""
    try:
        from assay.cli import main as run

        run()
    except KeyboardInterrupt:  # before or after the command could catch it itself
        sys.exit(130)


if __name__ == "__main__":
    main()
