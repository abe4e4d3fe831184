"""Views as messages of LangChain, and back. They need `langchain-core`, which an adapter installs."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

try:
    from compactometer import langchain
    from langchain_core.messages import HumanMessage
except ImportError:
    langchain = None

from compactometer.strategy import Budget, Message, Request, Written


def text(words):
    return {"type": "text", "text": words}


def call(name):
    return {"type": "tool_call", "id": name, "name": "read", "arguments": '{"path": "a"}'}


def result(name):
    return {"type": "tool_result", "call_id": name, "text": f"result of {name}"}


MESSAGES = [
    Message("m1", "system", [text("You are an agent.")], 5, True),
    Message("m2", "user", [text("Read both.")], 5),
    Message("m3", "assistant", [text("So."), call("a"), call("b")], 9),
    Message("m4", "tool", [result("a"), result("b")], 9),
    Message("m5", "user", [text("And now? " * 100)], 300, True),
]


@unittest.skipIf(langchain is None, "langchain-core is not installed")
class Views(unittest.TestCase):
    def request(self):
        return Request("trigger", Budget(1000, 50, 20, 30), 400, MESSAGES)

    def test_each_result_is_a_message(self):
        chat = langchain.chat(MESSAGES)
        self.assertEqual([one.type for one in chat], ["human", "ai", "tool", "tool", "human"])
        self.assertEqual([one["args"] for one in chat[1].tool_calls], [{"path": "a"}] * 2)
        self.assertEqual([one.tool_call_id for one in chat[2:4]], ["a", "b"])

    def test_what_stays_comes_back_once(self):
        chat = langchain.chat(MESSAGES)
        back = langchain.view(self.request(), [HumanMessage("A summary."), *chat[1:]])
        self.assertEqual(back, [MESSAGES[0], Written("A summary."), "m3", "m4", "m5"])

    def test_the_open_request_counts_beside_the_tail(self):
        self.assertGreater(langchain.recent_tokens(self.request()), 20 + 150)


if __name__ == "__main__":
    unittest.main()
