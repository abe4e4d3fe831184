"""Runs a command and prints its CPU seconds and peak memory as JSON. The command's output goes to stderr.

This is a separate, small process, because a child's peak starts at that of its parent. Nothing
below this process's 9 MB can be measured.
"""

import json
import os
import sys

child = os.posix_spawnp(
    sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, 2, 1)]
)
_, status, used = os.wait4(child, 0)
print(json.dumps({"cpu_s": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1024}))
sys.exit(os.waitstatus_to_exitcode(status) != 0)
