"""Fails if a hard check of a report fails, a compacting strategy never compacted, or a protocol of the run has no group."""

import json
import pathlib
import sys

path = pathlib.Path(sys.argv[1])
summary = json.loads(path.read_text())
listed = json.loads((path.parent / "manifest.json").read_text())["protocols"]
found = [group["protocol"] for group in summary["groups"]]
failed = [] if found == listed else [f"the run has {listed}, the report has {found}"]
for group in summary["groups"]:
    failed += [
        f"{group['protocol']}: {check['name']}: {check['detail']}"
        for check in group["checks"]
        if check["passed"] is False
    ]
    compacting = [s for s in group["strategies"] if s["name"] != "full"]
    failed += [
        f"{group['protocol']}: {s['name']} never triggered"
        for s in compacting
        if s["triggered"]["conversations"] == 0
    ]
    if max(s["triggered"]["most_rounds"] for s in compacting) < 2:
        failed.append(f"{group['protocol']}: no conversation has two rounds")
print("\n".join(failed) or f"{path}: hard checks hold, every strategy triggered")
sys.exit(bool(failed))
