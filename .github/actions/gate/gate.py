"""The step of the action: runs the strategies, judges the run, and says so where GitHub shows it."""

import json
import os
import pathlib
import subprocess
import sys
import urllib.error
import urllib.request

MARK = "<!-- compactometer: recall gate -->"
# GitHub shows ten annotations of a kind and step, and takes comments of 65,536 characters.
MOST_ANNOTATIONS = 10
LONGEST_COMMENT = 60_000
# The variable of a key, by how the name of its model begins.
KEYS = {
    "openai:": "OPENAI_API_KEY",
    "openai-responses:": "OPENAI_API_KEY",
    "anthropic:": "ANTHROPIC_API_KEY",
}
# What can do without one.
KEYLESS = ("mock", "cassette:", "openai-compatible:")


def main():
    given = {name: value.strip() for name, value in os.environ.items()}
    model, baseline = given.get("MODEL", ""), given.get("BASELINE", "")
    environment = dict(os.environ)
    if model and not given.get("API_KEY") and not model.startswith(KEYLESS):
        say("notice", "Recall gate", f"there is no key for {model}: the mock writes the summaries")
        model, baseline = "", given.get("MOCK_BASELINE", "")
    elif given.get("API_KEY"):
        own = [name for start, name in KEYS.items() if model.startswith(start) and "@" not in model]
        environment[own[0] if own else "COMPACTOMETER_API_KEY"] = given["API_KEY"]
    # The program and its children need no token.
    environment.pop("TOKEN", None)
    environment.pop("API_KEY", None)
    folder = pathlib.Path(os.environ["RUNNER_TEMP"], "compactometer-run")
    strategies = ["-s", given["STRATEGIES"], "-s", "full,null"]
    of_model = ["--model", model] if model else []
    options = given.get("OPTIONS", "").split()
    command = ["run", given["SUITE"], *strategies, *of_model, *options, "--out", folder, "--quiet"]
    ran = subprocess.run(["compactometer", *command], env=environment, check=False)
    if ran.returncode:
        end("failed", ran.returncode)
    if not baseline:
        say("notice", "Recall gate", "there is no baseline, so nothing is judged")
        end("none", 0)
    judge(folder, baseline, given, environment)


def judge(folder, baseline, given, environment):
    """Runs the gate, and ends with its exit code."""
    markdown = folder.with_suffix(".md")
    command = ["gate", folder, "--baseline", baseline, "--json", "--markdown", markdown]
    command += ["--on-inconclusive", given.get("ON_INCONCLUSIVE") or "warn"]
    done = subprocess.run(
        ["compactometer", *command], env=environment, stdout=subprocess.PIPE, check=False
    )
    try:
        report = json.loads(done.stdout)
    except ValueError:
        # A mismatch or a broken baseline, which the program has explained.
        end("failed", done.returncode or 1)
    annotate(report, done.returncode)
    if given.get("COMMENT") == "true" and markdown.is_file():
        comment(markdown.read_text(), baseline, given.get("TOKEN", ""))
    end(report["verdict"], done.returncode)


def annotate(report, code):
    """Names what is newly lost, as errors where the gate fails."""
    kind = "error" if code else "warning"
    lost = [(row["strategy"], fact) for row in report["strategies"] for fact in row["newly_lost"]]
    if report["verdict"] == "pass":
        return
    for strategy, fact in lost[:MOST_ANNOTATIONS]:
        # Without the suite only ids are known.
        what, where = f"`{fact['fact']}`", fact["scenario"]
        if stated := fact.get("stated"):
            what = f"`{stated['value']}` ({stated['subject']})"
            where = f"message {stated['message']} of {where}"
        say(kind, f"{strategy} lost a value", f"{what}, said in {where}")
    if len(lost) > MOST_ANNOTATIONS:
        more = len(lost) - MOST_ANNOTATIONS
        say("notice", "Recall gate", f"{more} more values are lost: see the summary of the job")


def comment(text, baseline, token):
    """Writes or replaces the comment of the pull request, where there is one and the token may."""
    event = json.loads(pathlib.Path(os.environ["GITHUB_EVENT_PATH"]).read_text())
    number = event.get("pull_request", {}).get("number")
    if not number or not token:
        return
    repository = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}"
    issues = f"{repository}/issues"
    try:
        changed = call("GET", f"{repository}/pulls/{number}/files?per_page=100", token)
        if any(file["filename"] == os.path.normpath(baseline) for file in changed):
            text = f"**This pull request changes the baseline that it is judged by.**\n\n{text}"
            say("warning", "Recall gate", f"this pull request changes {baseline}, its own baseline")
        body = {"body": f"{MARK}\n{text[:LONGEST_COMMENT]}"}
        there = call("GET", f"{issues}/{number}/comments?per_page=100", token)
        own = [one["url"] for one in there if one["body"].startswith(MARK)]
        if own:
            call("PATCH", own[0], token, body)
        else:
            call("POST", f"{issues}/{number}/comments", token, body)
    except urllib.error.HTTPError as error:
        say("notice", "Recall gate", f"no comment: the token may not write one ({error.code})")
    except OSError as error:
        say("notice", "Recall gate", f"no comment: {error}")


def call(method, url, token, body=None):
    """The answer of GitHub's interface."""
    request = urllib.request.Request(url, method=method)
    request.add_header("Authorization", f"Bearer {token}")
    request.add_header("Accept", "application/vnd.github+json")
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(request, data, timeout=30) as answer:
        return json.loads(answer.read() or b"null")


def say(kind, title, text):
    """An annotation. Texts come from conversations, so what would end it or begin another is escaped."""
    for letter, escape in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A")):
        text, title = text.replace(letter, escape), title.replace(letter, escape)
    title = title.replace(":", "%3A").replace(",", "%2C")
    print(f"::{kind} title={title}::{text}", flush=True)


def end(verdict, code):
    """Passes the verdict on."""
    with open(os.environ["GITHUB_OUTPUT"], "a", encoding="utf-8") as out:
        out.write(f"verdict={verdict}\n")
    sys.exit(code)


main()
