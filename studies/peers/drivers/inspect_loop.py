"""inspect_ai's side of the loop rows: one sample whose solver says recorded messages and lets a mock model answer each.

inspect_loop.py SUITE TURNS COMPACT_AT LOGS      COMPACT_AT: tokens, or 0 for no compaction
"""

import json
import sys

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageUser, CompactionSummary, ModelOutput, compaction, get_model
from inspect_ai.solver import solver

path, turns, compact_at, logs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
with open(path) as suite:
    suite.readline()
    scenario = json.loads(suite.readline())
texts = {
    role: [m["parts"][0]["text"] for m in scenario["messages"] if m["role"] == role]
    for role in ("user", "assistant")
}
assert len(texts["user"]) >= turns, f"{len(texts['user'])} turns, asked for {turns}"
recorded = iter(texts["assistant"])


def answer(said, tools, choice, config):
    """The recorded answer, or a summary of one sentence if one is requested."""
    is_turn = said[-1].text in users
    return ModelOutput.from_content(
        "mockllm", next(recorded) if is_turn else "The work goes on; nothing is open."
    )


users = set(texts["user"])


@solver
def recorded_turns():
    async def solve(state, generate):
        model = get_model()
        compact = (
            compaction(
                CompactionSummary(threshold=compact_at, memory=False), prefix=[], model=model
            )
            if compact_at
            else None
        )
        for text in texts["user"][:turns]:
            state.messages.append(ChatMessageUser(content=text))
            if compact is None:
                state = await generate(state)
                continue
            said, summary = await compact.compact_input(state.messages)
            if summary:
                state.messages.append(summary)
            output = await model.generate(said)
            await compact.record_output(said, output)
            state.messages.append(output.message)
        return state

    return solve


[log] = eval(
    Task(dataset=[Sample(input="You are a careful agent.", id="one")], solver=recorded_turns()),
    model=get_model("mockllm/model", custom_outputs=answer),
    log_dir=logs,
    display="none",
)
assert log.status == "success", log.error
