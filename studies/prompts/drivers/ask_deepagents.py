import sys

from deepagents import create_deep_agent
from langchain_messages import messages
from langchain_openai import ChatOpenAI

address, conversation = sys.argv[1:]
profile = {"max_input_tokens": 1500, "tool_calling": True}
model = ChatOpenAI(model="mock", base_url=address, api_key="x", max_retries=0, profile=profile)
create_deep_agent(model=model).invoke({"messages": [*messages(conversation), ("user", "Go on.")]})
