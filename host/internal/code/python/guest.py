# Runs inside the interpreter: calls main of a script and describes the outcome as JSON. The same
# file runs in CPython on a server and in Pyodide in a page; wasm/js has a generated copy.
import base64
import json
import linecache
import math
import os
import select
import sys
import time
import traceback
import types

dumps, loads = json.dumps, json.loads  # a script may replace those of the module
FILE = "main.py"
DEPTH = 200  # most levels of a result
ERROR = 64 << 10  # most characters of an error
ARTIFACTS = 10  # most files of a script
TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".svg": "image/svg+xml",
    ".pdf": "application/pdf",
    ".csv": "text/csv",
    ".json": "application/json",
    ".html": "text/html",
}


class Limit(Exception):
    pass


class Plain:
    """Copies a value as json.dumps would write it, within limits of size and depth."""

    def __init__(self, room):
        self.room = room

    def spend(self, n):
        self.room -= n
        if self.room < 0:
            raise Limit("the result is larger than it may be")

    def key(self, k):
        if isinstance(k, str):
            self.spend(len(k))
            return k
        if k is None or isinstance(k, (bool, int, float)):
            return dumps(k)
        raise TypeError(f"keys must be str, int, float, bool or None, not {type(k).__name__}")

    def copy(self, v, depth=0):
        self.spend(8)
        if depth > DEPTH:
            raise Limit(f"the result nests deeper than {DEPTH} levels or holds itself")
        if v is None or isinstance(v, bool):
            return v
        if isinstance(v, str):
            self.spend(len(v))
            return v
        if isinstance(v, int):
            self.spend(v.bit_length() // 4)
            return v
        if isinstance(v, float):
            return v if math.isfinite(v) else None
        if isinstance(v, dict):
            return {self.key(k): self.copy(x, depth + 1) for k, x in v.items()}
        if isinstance(v, (list, tuple)):
            return [self.copy(x, depth + 1) for x in v]
        raise TypeError(f"Object of type {type(v).__name__} is not JSON serializable")


def describe(e):
    """The traceback of an exception from the first line of the script on."""
    tb = e.__traceback__
    while tb is not None and tb.tb_frame.f_code.co_filename != FILE:
        tb = tb.tb_next
    lines = traceback.TracebackException(type(e), e, tb, compact=True).format()
    text = "".join(lines)
    if tb is None:
        text = text.replace("Traceback (most recent call last):\n", "", 1)
    return text if len(text) <= ERROR else text[: ERROR // 2] + "\n...\n" + text[-ERROR // 2 :]


def collect(room):
    """The files that the script left in artifacts/, and why others are left out."""
    found, notes = [], []
    try:
        names = sorted(os.listdir("artifacts"))
    except OSError:
        names = []
    for name in names:
        path = os.path.join("artifacts", name)
        mime = TYPES.get(os.path.splitext(name)[1].lower())
        if os.path.isdir(path):
            continue
        size = os.path.getsize(path)
        if mime is None or name.startswith(".") or not name.isprintable():
            notes.append(f"artifact {name!r} left out: accepted are {', '.join(TYPES)}")
        elif size > room or len(found) == ARTIFACTS:
            notes.append(f"artifact {name!r} left out: too large, or more than {ARTIFACTS} files")
        elif size > 0:
            room -= size
            with open(path, "rb") as f:
                content = base64.b64encode(f.read()).decode("ascii")
            found.append({"name": name, "mime_type": mime, "size": size, "content_b64": content})
    return found, notes


def evaluate(call, answer):
    module = types.ModuleType("main")
    module.__file__ = FILE
    sys.modules["main"] = module
    lines = call["script"].splitlines(True)
    linecache.cache[FILE] = (len(call["script"]), None, lines, FILE)
    exec(compile(call["script"], FILE, "exec"), module.__dict__)
    main = module.__dict__.get("main")
    if not callable(main):
        answer["error"] = "the script defines no function main\n"
        return
    value = Plain(call["output"]).copy(main(**call["arguments"]))
    if call.get("text"):  # for readers of JSON that do not keep all digits
        answer["text"] = dumps(value)
    else:
        answer["value"] = value


def run(text):
    """Runs {script, arguments, output, files, text}; returns {value or text, error, limit, ...}."""
    answer = {"value": None, "error": "", "artifacts": []}
    digits = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    call = loads(text)
    sys.set_int_max_str_digits(digits)
    try:
        evaluate(call, answer)
        answer["artifacts"], notes = collect(call["files"])
        for note in notes:
            print(note, file=sys.stderr)
        encoded = dumps(answer)
    except BaseException as e:
        encoded = dumps(failure(e))
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass  # the script closed or replaced it
    return encoded


def failure(e):
    answer = {"value": None, "error": ""}
    if isinstance(e, Limit):
        answer["limit"] = str(e)
    elif isinstance(e, MemoryError):
        answer["memory"] = True
    elif isinstance(e, SystemExit) and e.code in (None, 0):
        pass  # the script returned nothing
    else:
        answer["error"] = describe(e)
        if isinstance(e, ModuleNotFoundError):
            answer["missing"] = e.name
    return answer


def pause(seconds):
    """time.sleep, which asks WASI for an absolute time that hosts do not support."""
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    select.select([], [], [], seconds)


def serve():
    """Answers one call: a line of standard input, to a file that the script cannot name."""
    os.chdir("/")
    time.sleep = pause
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    result = open("/.result", "wb", buffering=0)
    os.unlink("/.result")
    call = sys.stdin.buffer.readline()
    encoded = memoryview(run(call).encode("ascii"))
    while encoded:
        encoded = encoded[result.write(encoded) :]
    result.close()
    os._exit(0)
