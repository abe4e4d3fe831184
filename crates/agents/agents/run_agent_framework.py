"""Microsoft's Agent Framework: its summaries within a budget of tokens, both as they come."""

import asyncio

import play
from agent_framework import (
    Agent,
    CharacterEstimatorTokenizer,
    FunctionTool,
    SummarizationStrategy,
    TokenBudgetComposedStrategy,
)
from agent_framework.openai import OpenAIChatCompletionClient


def tool(spec):
    return FunctionTool(
        func=lambda **arguments: play.call(spec["name"], arguments),
        name=spec["name"],
        description=spec["description"],
        input_model=spec["parameters"],
        approval_mode="never_require",
    )


async def main():
    client = OpenAIChatCompletionClient(**play.MODEL)
    client.function_invocation_configuration["max_iterations"] = 10_000
    agent = Agent(
        client,
        play.SYSTEM,
        tools=[tool(spec) for spec in play.tools()],
        compaction_strategy=TokenBudgetComposedStrategy(
            token_budget=play.WINDOW * 9 // 10,
            tokenizer=CharacterEstimatorTokenizer(),
            strategies=[SummarizationStrategy(client=client)],
        ),
    )
    session = agent.create_session()
    for turn in play.turns():
        await agent.run(turn, session=session)


asyncio.run(main())
