import sys

from langchain.agents.middleware import SummarizationMiddleware
from langchain_messages import messages
from langchain_openai import ChatOpenAI

address, conversation = sys.argv[1:]
model = ChatOpenAI(model="mock", base_url=address, api_key="x", max_retries=0)
middleware = SummarizationMiddleware(model=model, trigger=("messages", 4), keep=("messages", 1))
middleware.before_model({"messages": messages(conversation)}, None)
