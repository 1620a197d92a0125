"""The command `unfooled`, and `python -m unfooled`."""

from __future__ import annotations


def main() -> None:
    """Runs the command line; a Ctrl-C while it is still loaded is no traceback."""
    try:
        from unfooled.cli import main as run
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    run()


if __name__ == "__main__":
    main()
