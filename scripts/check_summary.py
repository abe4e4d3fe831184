"""Fails where a report's hard checks fail, or a strategy that compacts never did."""
import json
import sys

summary = json.load(open(sys.argv[1]))
failed = [
    f"{check['name']}: {check['detail']}"
    for group in summary["groups"]
    for check in group["checks"]
    if check["passed"] is False
]
for group in summary["groups"]:
    compacting = [s for s in group["strategies"] if s["name"] != "full"]
    failed += [f"{s['name']} never triggered" for s in compacting if s["triggered"]["conversations"] == 0]
    if max(s["triggered"]["most_rounds"] for s in compacting) < 2:
        failed.append("no conversation shows two rounds")
print("\n".join(failed) or f"{sys.argv[1]}: hard checks hold, every strategy triggered")
sys.exit(bool(failed))
