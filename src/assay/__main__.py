"""The door of the `assay` command, also by `python -m assay`. It is quiet when interrupted, even while it imports."""

import sys


def main() -> None:
    """Run the command and exit with its status."""
    try:
        from assay.signals import end_in_order

        end_in_order()
        from assay.cli import main as run

        run()
    except BaseException as error:  # before or after the command could catch it itself
        from assay.signals import signal_of

        number = signal_of(error)
        if number is None:
            raise
        sys.exit(128 + number)


if __name__ == "__main__":
    main()
