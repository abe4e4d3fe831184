"""A strategy of your own: copy this file, change `compact`, and measure it:

    compactometer compare -s mine=exec:"python3 scripts/adapters/template.py",@controls

It keeps the newest messages and asks the model for a summary of the others. docs/own-strategy.md
has the rest.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "python"))
from compactometer import strategy

PROMPT = "Summarize this conversation. Keep names, paths, ids and numbers as they are. At most {tokens} tokens.\n\n<chat>\n{chat}\n</chat>"


class Template(strategy.Strategy):
    about = "the newest messages, and a summary of the others"
    version = "1"
    parameters = {"asked": 600}
    tail_share = 0.5

    def compact(self, request):
        budget = request.budget
        recent = request.newest(budget.tail)
        stays = {message.id for message in [*recent, *request.fixed]}
        old = [message for message in request.messages if message.id not in stays]
        if not old:
            raise strategy.Skip()
        tokens = min(self.settings["asked"], budget.written)
        chat = "\n\n".join(f"{message.role}: {message.text}" for message in old)
        summary = self.model.complete(PROMPT.format(tokens=tokens, chat=chat), max_tokens=tokens)
        return request.fixed_and(recent, first=[strategy.Written(summary)])


strategy.run(Template)
