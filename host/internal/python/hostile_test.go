package python

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// refused are bodies of functions that reach for what the sandbox does not have, and the error of
// each.
var refused = []struct{ name, body, want string }{
	{"os.fork", "import os; os.fork()", "has no attribute 'fork'"},
	{"os.system", "import os; os.system('id')", "has no attribute 'system'"},
	{"os.execv", "import os; os.execv('/bin/sh', ['sh'])", "has no attribute 'execv'"},
	{"subprocess", "import subprocess; subprocess.run(['id'])", "Error"},
	{"a socket", "import socket; socket.socket().connect(('127.0.0.1', 80))", "Error"},
	{"a request", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9380')", "Error"},
	{"a thread", "import threading; threading.Thread(target=print).start()", "can't start new thread"},
	{"ctypes", "import ctypes", "No module named"},
	{"a file of the host", "open('/etc/passwd')", "FileNotFoundError"},
	{"a process of the host", "open('/proc/self/environ')", "FileNotFoundError"},
	{"a path above the root", "open('../../../../etc/passwd')", "Error"},
	{"a link to a file", "import os; os.symlink('/etc/passwd', 'x'); open('x')", "Error"},
	{"a file that is too large", "f = open('large', 'wb')\n    while True: f.write(bytes(1 << 20))", "OSError"},
	{"a file at an enormous offset", "f = open('far', 'wb'); f.seek(1 << 39); f.write(b'x'); f.close()", "OSError"},
	{"many files", "for i in range(100000): open(f'f{i}', 'w').close()", "OSError"},
	{"deep recursion", "def f(): return f()\n    f()", "RecursionError"},
	{"deep recursion in C", "import sys; sys.setrecursionlimit(10**9)\n    a = []\n    for _ in range(10**6): a = [a]\n    repr(a)", "RecursionError"},
	{"deep brackets", "eval('(' * 10**5 + ')' * 10**5)", "Error"},
	{"a deep expression", "eval('-' * 10**5 + '1')", "Error"},
	{"600 MB at once", "bytearray(600 << 20)", "MemoryError"},
	{"many digits", "str(10**5000)", "Exceeds the limit"},
}

func TestSandboxRefuses(t *testing.T) {
	r := newRunner(t, Limits{Time: 30 * time.Second})
	var b strings.Builder
	for i, c := range refused {
		fmt.Fprintf(&b, "def f%d():\n    %s\n", i, c.body)
	}
	fmt.Fprintf(&b, `
def attempt(f):
    try:
        f()
        return "no error"
    except BaseException as e:
        return f"{type(e).__name__}: {e}"[:300]

def main():
    return [attempt(globals()[f"f{i}"]) for i in range(%d)]
`, len(refused))
	res, err := r.RunCode(t.Context(), script(b.String()))
	require.NoError(t, err)
	require.Equal(t, engine.KindList, res.Value.Kind(), res.Stderr)
	for i, c := range refused {
		require.Contains(t, res.Value.At(i).Str(), c.want, c.name)
	}
}

// hostile are scripts that end their interpreter or exhaust it. Each ends with a value, with an
// error of its own, or at a limit.
var hostile = []struct{ name, script, value, stderr, limit string }{
	{name: "the environment", script: "import os\ndef main(): return dict(os.environ)", value: "{}"},
	{name: "output that is not UTF-8", script: "import os\ndef main():\n    print('a\\ud800b', flush=True)\n    os.write(1, b'a\\xffb')\n    return 1", value: "1"},
	{name: "forged answers", script: "import os\ndef main():\n    for fd in range(3, 64):\n        try: os.write(fd, b'forged')\n        except OSError: pass\n    return 1", value: "1"},
	{name: "closed answers", script: "import os\ndef main():\n    os.closerange(0, 64)\n    return 1", value: "1"},
	{name: "a changed json module", script: "import json\njson.dumps = lambda *a, **k: '{\"value\": 1}'\ndef main(): return 2", value: "2"},
	{name: "a broken guest", script: "import __main__\n__main__.dumps = None\ndef main(): return 2", stderr: "ended the interpreter"},
	{name: "os._exit", script: "import os\ndef main(): os._exit(0)", stderr: "ended the interpreter with code 0"},
	{name: "os.abort", script: "import os\ndef main(): os.abort()", stderr: "unreachable"},
	{name: "sys.exit", script: "import sys\ndef main(): sys.exit(3)", stderr: "SystemExit: 3"},
	{name: "an exception that is no Exception", script: "class E(BaseException): pass\ndef main(): raise E('x')", stderr: "E: x"},
	{name: "an exception without text", script: "class E(Exception):\n    def __str__(self): raise ValueError\ndef main(): raise E", stderr: "<exception str() failed>"},
	{name: "a string that doubles", script: "def main():\n    s = 'xy'\n    while True: s += s", limit: "more than 256 MB of memory"},
	{name: "an endless list", script: "def main():\n    a = []\n    while True: a.append(bytes(10000))", limit: "more than 256 MB of memory"},
	{name: "an enormous number", script: "def main(): return 1 << 10**9", limit: "limit reached"},
	{name: "an endless object", script: "class D(dict):\n    def items(self):\n        while True: yield 'k', 1\ndef main(): return D(a=1)", limit: "larger than it may be"},
	{name: "deep recursion without a limit", script: "import sys\ndef main():\n    sys.setrecursionlimit(10**9)\n    def f(n): return [f(n + 1)]\n    return f(0)", limit: overtime},
	{name: "while True", script: "def main():\n    while True: pass", limit: overtime},
	{name: "while True at the top", script: "while True: pass", limit: overtime},
	{name: "while True that catches everything", script: "def main():\n    while True:\n        try:\n            while True: pass\n        except BaseException: pass", limit: overtime},
	{name: "a number with 10^8 digits", script: "def main(): return 10**10**8", limit: overtime},
	{name: "a regular expression", script: "import re\ndef main(): return re.match('(a+)+$', 'a' * 64 + 'b')", limit: overtime},
	{name: "sleep", script: "import time\ndef main(): time.sleep(1e6)", limit: overtime},
	{name: "endless output", script: "def main():\n    while True: print('x' * 1000)", limit: overtime},
}

// overtime is the error of scripts that never end, which have a short limit.
const overtime = "ran longer than 200ms"

func TestHostileScripts(t *testing.T) {
	short, long := newRunner(t, Limits{Time: 200 * time.Millisecond}), newRunner(t, Limits{Time: 30 * time.Second, Output: 1 << 20})
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			r := long
			if c.limit == overtime {
				r = short
			}
			res, err := r.RunCode(t.Context(), script(c.script))
			if c.limit != "" {
				require.ErrorIs(t, err, engine.ErrLimit, res)
				require.ErrorContains(t, err, c.limit)
				return
			}
			require.NoError(t, err)
			if c.value == "" {
				c.value = "null"
			}
			require.Equal(t, c.value, res.Value.JSON(), res.Stderr)
			require.Contains(t, res.Stderr, c.stderr)
		})
	}
}
