# Scripts of TestHostileScripts: each begins with its name, what its end is told by, and that.
#### the environment :: value :: {}
import os
def main(): return dict(os.environ)

#### output that is not UTF-8 :: value :: 1
import os
def main():
    print('a\ud800b', flush=True)
    os.write(1, b'a\xffb')
    return 1

#### forged answers :: value :: 1
import os
def main():
    for fd in range(3, 64):
        try: os.write(fd, b'forged')
        except OSError: pass
    return 1

#### closed answers :: value :: 1
import os
def main():
    os.closerange(0, 64)
    return 1

#### a changed json module :: value :: 2
import json
json.dumps = lambda *a, **k: '{"value": 1}'
def main(): return 2

#### a broken guest :: stderr :: ended the interpreter
import __main__
__main__.dumps = None
def main(): return 2

#### os._exit :: stderr :: ended the interpreter with code 0
import os
def main(): os._exit(0)

#### os.abort :: stderr :: unreachable
import os
def main(): os.abort()

#### sys.exit :: stderr :: SystemExit: 3
import sys
def main(): sys.exit(3)

#### an exception that is no Exception :: stderr :: E: x
class E(BaseException): pass
def main(): raise E('x')

#### an exception without text :: stderr :: <exception str() failed>
class E(Exception):
    def __str__(self): raise ValueError
def main(): raise E

#### a string that doubles :: limit :: more than 256 MB of memory
def main():
    s = 'xy'
    while True: s += s

#### an endless list :: limit :: more than 256 MB of memory
def main():
    a = []
    while True: a.append(bytes(10000))

#### an enormous number :: limit :: limit reached
def main(): return 1 << 10**9

#### an endless object :: limit :: larger than it may be
class D(dict):
    def items(self):
        while True: yield 'k', 1
def main(): return D(a=1)

#### deep recursion without a limit :: limit :: ran longer than 200ms
import sys
def main():
    sys.setrecursionlimit(10**9)
    def f(n): return [f(n + 1)]
    return f(0)

#### while True :: limit :: ran longer than 200ms
def main():
    while True: pass

#### while True at the top :: limit :: ran longer than 200ms
while True: pass

#### while True that catches everything :: limit :: ran longer than 200ms
def main():
    while True:
        try:
            while True: pass
        except BaseException: pass

#### a number with 10^8 digits :: limit :: ran longer than 200ms
def main(): return 10**10**8

#### a regular expression :: limit :: ran longer than 200ms
import re
def main(): return re.match('(a+)+$', 'a' * 64 + 'b')

#### sleep :: limit :: ran longer than 200ms
import time
def main(): time.sleep(1e6)

#### endless output :: limit :: ran longer than 200ms
def main():
    while True: print('x' * 1000)
