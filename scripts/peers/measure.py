"""Runs a command and prints its CPU seconds and peak memory as JSON; its output goes to stderr.

A process of its own, and a small one: a child's peak begins with that of the process that starts it, so nothing under this
one's own 9 MB can be told.
"""

import json
import os
import sys

child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, 2, 1)])
_, status, used = os.wait4(child, 0)
print(json.dumps({"cpu_s": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1024}))
sys.exit(os.waitstatus_to_exitcode(status) != 0)
