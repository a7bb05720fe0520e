"""`python -m wgslgen` is the command `wgslgen`, for environments that have no scripts on PATH."""

from wgslgen.cli import main

if __name__ == "__main__":
    main()
