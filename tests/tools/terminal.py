#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run a command on a terminal of its own, and type what a user would.

    terminal.py [STEP...] -- COMMAND [ARG...]

A STEP is one of `wait:TEXT` (until the terminal has shown TEXT since the last step), `type:TEXT`, `pause:SECONDS`,
`size:ROWS,COLUMNS` and `kill:SIGNAL` (to COMMAND). In TEXT, \\r, \\x03 and the like are what they are in Python.
All that the terminal showed goes to stdout, and the last line says how it was left: `restored` or `changed`. Ends with
COMMAND's status, or with 128 and the number of the signal that ended it; 124 if a TEXT does not come.
"""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

PATIENCE = 200


def set_size(terminal, rows, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))


class Session:
    """A process on a terminal; `shown` is what the terminal showed, and `seen` how much of it is dealt with."""

    def __init__(self, command):
        self.terminal, inside = pty.openpty()
        set_size(self.terminal, 24, 80)
        self.before = termios.tcgetattr(inside)
        self.inside = inside
        self.shown = b''
        self.seen = 0
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.terminal)
            self.become_leader(inside)
            os.execvp(command[0], command)

    @staticmethod
    def become_leader(inside):
        os.setsid()
        fcntl.ioctl(inside, termios.TIOCSCTTY, 0)
        for number in range(3):
            os.dup2(inside, number)

    def read(self, seconds):
        """Take in what is shown within this time, at the latest at the first of it."""
        if select.select([self.terminal], [], [], seconds)[0]:
            self.shown += os.read(self.terminal, 65536)
            return True
        return False

    def wait(self, text):
        end = time.monotonic() + PATIENCE
        while text not in self.shown[self.seen:]:
            if time.monotonic() > end or self.has_ended():
                raise TimeoutError(text)
            self.read(0.2)
        self.seen = self.shown.index(text, self.seen) + len(text)

    def has_ended(self):
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None \
            and not self.read(0.2)

    def step(self, step):
        kind, _, text = step.partition(':')
        data = text.encode().decode('unicode_escape').encode()
        if kind == 'wait':
            self.wait(data)
        elif kind == 'type':
            os.write(self.terminal, data)
        elif kind == 'pause':
            time.sleep(float(text))
        elif kind == 'size':
            set_size(self.terminal, *map(int, text.split(',')))
        elif kind == 'kill':
            os.kill(self.pid, signal.Signals['SIG' + text])
        else:
            sys.exit(f'terminal.py: no such step: {step}')

    def end(self):
        while not self.has_ended():
            self.read(0.2)
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return code if code >= 0 else 128 - code

    def was_restored(self):
        """What puts it right may need a moment after a kill."""
        end = time.monotonic() + 10
        while termios.tcgetattr(self.inside) != self.before and time.monotonic() < end:
            time.sleep(0.1)
        return termios.tcgetattr(self.inside) == self.before


def main(arguments):
    if '--' not in arguments:
        sys.exit(__doc__)
    steps = arguments[:arguments.index('--')]
    session = Session(arguments[len(steps) + 1:])
    try:
        for step in steps:
            session.step(step)
        code = session.end()
    except TimeoutError as error:
        os.kill(session.pid, signal.SIGTERM)
        code = 124
        session.shown += b'\nnever shown: %r' % error.args[0]
    sys.stdout.buffer.write(session.shown)
    print('\n' + ('restored' if session.was_restored() else 'changed'))
    return code


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
