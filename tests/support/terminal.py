"""A terminal for programs that show progress on one."""
import os
import pty
import subprocess


def standard_error_of(command):
    """Text that a terminal shows of a program's standard error; the program must end well."""
    parent, child = pty.openpty()
    process = subprocess.Popen([str(word) for word in command], stderr=child, stdout=subprocess.DEVNULL)
    os.close(child)
    seen = b""
    try:
        while chunk := os.read(parent, 4096):
            seen += chunk
    except OSError:  # Linux says so when the last who could write has gone
        pass
    os.close(parent)
    assert process.wait() == 0, seen
    return seen.decode()
