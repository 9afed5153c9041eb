"""The entry point of the command `wattle` and of `python -m wattle`."""

import atexit
import gc
import os
import signal
import sys
from contextlib import suppress


def main() -> None:
    """Runs the command without searches for garbage while it imports and while it ends. They would find none, and take
    a fifth of the time of a short command. There Ctrl-C also ends the process at once, because Python would print a
    traceback.
    """
    gc.disable()  # `cli` enables it again for the command's own work
    _let_ctrl_c_end_it()
    try:
        asked = None
        if sys.argv[1:2] == ["run"]:
            from wattle.run import quick

            asked = quick.read(sys.argv[1:])
        if asked is not None:
            _end_at_once(quick.run(asked))
        from wattle import cli

        cli.main()
    except KeyboardInterrupt:  # a second Ctrl-C, while the message on the first one is printed
        sys.exit(128 + signal.SIGINT)
    finally:
        gc.freeze()
        _let_ctrl_c_end_it()


def _end_at_once(code: int) -> None:
    """Ends the process without freeing what it has, which takes as long as printing the tables."""
    _let_ctrl_c_end_it()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)


def _let_ctrl_c_end_it() -> None:
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    main()
