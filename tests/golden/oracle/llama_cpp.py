"""llama.cpp through its plain C API: logits of every position of a sequence and ids of texts, at default settings.

A module for other scripts; `libraries` is the folder of shared libraries that the npm package @node-llama-cpp/linux-x64
brings (bins/linux-x64).
"""

import ctypes
import pathlib

import numpy as np


class _Opaque(ctypes.Structure):
    """Parameters by value: larger than the real ones; only n_ctx, the first field of the context's, is set."""
    _fields_ = [("words", ctypes.c_uint32 * 256)]


class _Batch(ctypes.Structure):
    _fields_ = [("n_tokens", ctypes.c_int32), ("token", ctypes.POINTER(ctypes.c_int32)),
                ("embd", ctypes.POINTER(ctypes.c_float)), ("pos", ctypes.POINTER(ctypes.c_int32)),
                ("n_seq_id", ctypes.POINTER(ctypes.c_int32)), ("seq_id", ctypes.POINTER(ctypes.POINTER(ctypes.c_int32))),
                ("logits", ctypes.POINTER(ctypes.c_int8))]


def _function(library, name, result, *arguments):
    function = getattr(library, name)
    function.restype, function.argtypes = result, arguments
    return function


_LOG = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)


class Model:
    def __init__(self, libraries, path, context=1024):
        folder = pathlib.Path(libraries)
        ctypes.CDLL(str(folder / "libggml-base.so"), ctypes.RTLD_GLOBAL)
        ggml = ctypes.CDLL(str(next(folder.glob("libggml.v*.so"))), ctypes.RTLD_GLOBAL)
        self.llama = ctypes.CDLL(str(next(folder.glob("libllama.v*.so"))), ctypes.RTLD_GLOBAL)
        self.version = next(folder.glob("libllama.v*.so")).name.removeprefix("libllama.").removesuffix(".so")
        self._quiet = _LOG(lambda level, text, user: None)
        _function(self.llama, "llama_log_set", None, _LOG, ctypes.c_void_p)(self._quiet, None)
        _function(ggml, "ggml_backend_load_all_from_path", None, ctypes.c_char_p)(str(folder).encode())
        _function(self.llama, "llama_backend_init", None)()
        with open("/proc/self/maps", encoding="utf-8") as maps:
            self.backend = next(pathlib.Path(line.split()[-1]).name for line in maps if "libggml-cpu-" in line)
        pointer = ctypes.c_void_p
        self.model = _function(self.llama, "llama_model_load_from_file", pointer, ctypes.c_char_p, _Opaque)(
            str(path).encode(), _function(self.llama, "llama_model_default_params", _Opaque)())
        if not self.model:
            raise RuntimeError(f"llama.cpp cannot load {path}")
        parameters = _function(self.llama, "llama_context_default_params", _Opaque)()
        parameters.words[0] = context
        self.context = _function(self.llama, "llama_init_from_model", pointer, pointer, _Opaque)(self.model, parameters)
        if not self.context:
            raise RuntimeError("llama.cpp cannot make a context")
        # One thread: results do not depend on it, and spinning threads are slow on a busy machine.
        _function(self.llama, "llama_set_n_threads", None, pointer, ctypes.c_int32, ctypes.c_int32)(self.context, 1, 1)
        vocabulary = _function(self.llama, "llama_model_get_vocab", pointer, pointer)(self.model)
        self._vocabulary = vocabulary
        self._tokenize = _function(self.llama, "llama_tokenize", ctypes.c_int32, pointer, ctypes.c_char_p, ctypes.c_int32,
                                   ctypes.POINTER(ctypes.c_int32), ctypes.c_int32, ctypes.c_bool, ctypes.c_bool)
        self.size = _function(self.llama, "llama_vocab_n_tokens", ctypes.c_int32, pointer)(vocabulary)
        self._memory = _function(self.llama, "llama_get_memory", pointer, pointer)
        self._clear = _function(self.llama, "llama_memory_clear", None, pointer, ctypes.c_bool)
        self._decode = _function(self.llama, "llama_decode", ctypes.c_int32, pointer, _Batch)
        self._logits = _function(self.llama, "llama_get_logits_ith", ctypes.POINTER(ctypes.c_float), pointer, ctypes.c_int32)
        self._batch = _function(self.llama, "llama_batch_init", _Batch, ctypes.c_int32, ctypes.c_int32, ctypes.c_int32)

    def tokenize(self, text, parse_special):
        """The ids of `text`, without bos and eos."""
        data = text.encode()
        ids = (ctypes.c_int32 * (2 * len(data) + 16))()
        count = self._tokenize(self._vocabulary, data, len(data), ids, len(ids), False, parse_special)
        if count < 0:
            raise RuntimeError("llama.cpp cannot tokenize")
        return list(ids[:count])

    def with_bos(self, ids):
        """The ids with what the model's file puts before a text."""
        adds = _function(self.llama, "llama_vocab_get_add_bos", ctypes.c_bool, ctypes.c_void_p)(self._vocabulary)
        bos = _function(self.llama, "llama_vocab_bos", ctypes.c_int32, ctypes.c_void_p)(self._vocabulary)
        return [bos, *ids] if adds else list(ids)

    def logits(self, ids, chunk):
        """Logits of every position, [len(ids), size] in f32, fed `chunk` ids at a time."""
        self._clear(self._memory(self.context), True)
        batch = self._batch(chunk, 0, 1)
        out = np.empty((len(ids), self.size), dtype=np.float32)
        for start in range(0, len(ids), chunk):
            part = ids[start:start + chunk]
            batch.n_tokens = len(part)
            for i, token in enumerate(part):
                batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = token, start + i, 1, 1
                batch.seq_id[i][0] = 0
            if self._decode(self.context, batch) != 0:
                raise RuntimeError("llama.cpp cannot decode")
            for i in range(len(part)):
                out[start + i] = np.ctypeslib.as_array(self._logits(self.context, i), (self.size,))
        return out
