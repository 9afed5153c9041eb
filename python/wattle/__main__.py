"""The entry point of the command `wattle` and of `python -m wattle`."""

import gc
import signal
import sys


def main() -> None:
    """Runs the command without searches for garbage while it imports and while it ends. They would find none, and take
    a fifth of the time of a short command. There Ctrl-C also ends the process at once, because Python would print a
    traceback.
    """
    gc.disable()  # `cli` enables it again for the command's own work
    _let_ctrl_c_end_it()
    from wattle import cli

    try:
        cli.main()
    except KeyboardInterrupt:  # a second Ctrl-C, while the message on the first one is printed
        sys.exit(128 + signal.SIGINT)
    finally:
        gc.freeze()
        _let_ctrl_c_end_it()


def _let_ctrl_c_end_it() -> None:
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    main()
