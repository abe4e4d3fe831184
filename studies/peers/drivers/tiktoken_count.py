"""Python tiktoken's side of the counting rows: exact tokens of each chunk of a text, of about 4,096 bytes.

tiktoken_count.py ENCODING FILE
"""

import json
import sys
import time

import tiktoken

CHUNK = 4_096


def chunks(data):
    """Splits like `compactometer_benches::texts::chunks`: at the first character boundary from CHUNK bytes on."""
    while data:
        cut = min(CHUNK, len(data))
        while cut < len(data) and data[cut] & 0xC0 == 0x80:
            cut += 1
        yield data[:cut].decode()
        data = data[cut:]


encoding = tiktoken.get_encoding(sys.argv[1])
with open(sys.argv[2], "rb") as file:
    texts = list(chunks(file.read()))
encoding.encode_ordinary("ready")
start = time.process_time()
tokens = [len(encoding.encode_ordinary(text)) for text in texts]
print(json.dumps({"tokens": tokens, "cpu_s": time.process_time() - start}))
