"""The package, the templates and the example of docs/own-strategy.md on the hard cases: `python3 -m unittest discover python/tests`."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
from compactometer import testing


def run(text: str) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "own.py"
        path.write_text(f"import sys\nsys.path.insert(0, {str(ROOT / 'python')!r})\n{text}")
        return testing.check([sys.executable, str(path)])


def strategy(body: str) -> str:
    return f"from compactometer import strategy\nclass Own(strategy.Strategy):\n    def compact(self, request):\n        {body}\nstrategy.run(Own)\n"


class Templates(unittest.TestCase):
    def test_the_template_passes(self):
        self.assertEqual(
            testing.check([sys.executable, str(ROOT / "scripts/adapters/template.py")]), {}
        )

    def test_the_example_of_the_page_passes(self):
        page = (ROOT / "docs/own-strategy.md").read_text()
        self.assertEqual(run(re.search(r"```python\n(.*?)```", page, re.DOTALL).group(1)), {})


class Models(unittest.TestCase):
    def test_a_compaction_by_anthropics_server_is_answered_with_its_block(self):
        body = (
            "import json, os, urllib.request; "
            "asked = {'messages': [], 'context_management': {'edits': [{'type': 'compact_20260112'}]}}; "
            "address = os.environ['ANTHROPIC_BASE_URL'] + '/v1/messages?beta=true'; "
            "reply = json.load(urllib.request.urlopen(address, json.dumps(asked).encode())); "
            "(block,) = reply['content']; assert block['type'] == 'compaction' and block['content'], reply; "
            "return [one for one in request.messages if one.fixed or one.role == 'system']"
        )
        self.assertEqual(run(strategy(body)), {})


class Answers(unittest.TestCase):
    def test_results_can_be_cleared(self):
        body = (
            "cleared = lambda part: {**part, 'text': 'x'} if part['type'] == 'tool_result' else part; "
            "return [strategy.Written(id=one.id, parts=[cleared(part) for part in one.parts])"
            " if one.answers and not one.fixed else one for one in request.messages]"
        )
        found = run(strategy(body))
        for case in ("calls in parallel", "a chain of calls", "arguments that are no JSON"):
            self.assertNotIn(case, found)
        # Where there is no result, there is nothing to clear.
        self.assertEqual(
            {wrong for wrongs in found.values() for wrong in wrongs}, {"the view is not smaller"}
        )

    def test_arguments_are_an_object(self):
        from compactometer import strategy

        self.assertEqual(strategy.arguments('{"a": 1}'), {"a": 1})
        self.assertEqual(strategy.arguments("[1]"), {"input": [1]})
        self.assertEqual(strategy.arguments("ls -l"), {"input": "ls -l"})

    def test_a_model_that_is_asked_for_a_stream_sends_one(self):
        ask = (
            "import json, os, urllib.request; "
            "body = json.dumps({'stream': True, 'messages': []}).encode(); "
            "url = os.environ['OPENAI_BASE_URL'] + '/chat/completions'; "
            "lines = urllib.request.urlopen(urllib.request.Request(url, body)).read().split(b'\\n\\n'); "
            "said = json.loads(lines[0][6:])['choices'][0]['delta']['content']; "
            "assert lines[1] == b'data: [DONE]', lines; "
            "return request.fixed_and([], first=[strategy.Written(said)])"
        )
        self.assertEqual(run(strategy(ask)), {})


class Faults(unittest.TestCase):
    """Each fault is found, and in the case that it breaks."""

    def test_a_result_without_its_call(self):
        found = run(
            strategy(
                "return [m for m in request.messages if m.role in ('system', 'user', 'tool') or m.fixed][:1] + "
                "[m for m in request.messages if m.role in ('user', 'tool') or m.fixed and m.role != 'system']"
            )
        )
        self.assertIn("the result of 'b' has no call before it", found["calls in parallel"])

    def test_no_system_prompt(self):
        found = run(strategy("return [strategy.Written('All.')]"))
        self.assertEqual(set(found), set(testing.CASES))
        self.assertIn(
            "the system prompt is missing, changed or not the first message", found["plain talk"]
        )

    def test_the_same_view(self):
        self.assertIn(
            "the view is not smaller", run(strategy("return request.messages"))["plain talk"]
        )

    def test_an_exception_has_its_words(self):
        self.assertEqual(
            run(strategy("raise KeyError('x')"))["plain talk"], ["it failed: KeyError: 'x'"]
        )

    def test_what_it_prints_is_no_answer(self):
        self.assertEqual(run(strategy("print('hello'); raise strategy.Skip()")), {})

    def test_twice_and_invented(self):
        found = run(strategy("return ['m1', 'm2', 'm2', 'm12345']"))["plain talk"]
        self.assertIn("message 'm2' is there twice", found)
        self.assertIn("message 'm12345' is not in the view", found)

    def test_a_program_that_is_none(self):
        self.assertEqual(
            testing.check(["sh", "-c", "echo hi"])["plain talk"], ["its first line is not a hello"]
        )

    def test_a_quoted_command_is_explained(self):
        done = subprocess.run(
            [sys.executable, "-m", "compactometer.testing", "node x.mjs"],
            cwd=ROOT / "python",
            stderr=subprocess.PIPE,
            text=True,
        )
        self.assertEqual(done.returncode, 2)
        self.assertIn("leave out the quotes", done.stderr)


if __name__ == "__main__":
    unittest.main()
