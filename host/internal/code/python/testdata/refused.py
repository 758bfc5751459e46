# Pieces of TestSandboxRefuses: each begins with its name and a part of its error.
#### os.fork :: error :: has no attribute 'fork'
import os; os.fork()

#### os.system :: error :: has no attribute 'system'
import os; os.system('id')

#### os.execv :: error :: has no attribute 'execv'
import os; os.execv('/bin/sh', ['sh'])

#### subprocess :: error :: Error
import subprocess; subprocess.run(['id'])

#### a socket :: error :: Error
import socket; socket.socket().connect(('127.0.0.1', 80))

#### a request :: error :: Error
import urllib.request; urllib.request.urlopen('http://127.0.0.1:9380')

#### a thread :: error :: can't start new thread
import threading; threading.Thread(target=print).start()

#### ctypes :: error :: No module named
import ctypes

#### a file of the host :: error :: FileNotFoundError
open('/etc/passwd')

#### a process of the host :: error :: FileNotFoundError
open('/proc/self/environ')

#### a path above the root :: error :: Error
open('../../../../etc/passwd')

#### a link to a file :: error :: Error
import os; os.symlink('/etc/passwd', 'x'); open('x')

#### a file that is too large :: error :: OSError
f = open('large', 'wb')
while True: f.write(bytes(1 << 20))

#### a file at an enormous offset :: error :: OSError
f = open('far', 'wb'); f.seek(1 << 39); f.write(b'x'); f.close()

#### many files :: error :: OSError
for i in range(100000): open(f'f{i}', 'w').close()

#### deep recursion :: error :: RecursionError
def f(): return f()
f()

#### deep recursion in C :: error :: RecursionError
import sys; sys.setrecursionlimit(10**9)
a = []
for _ in range(10**6): a = [a]
repr(a)

#### deep brackets :: error :: Error
eval('(' * 10**5 + ')' * 10**5)

#### a deep expression :: error :: Error
eval('-' * 10**5 + '1')

#### 600 MB at once :: error :: MemoryError
bytearray(600 << 20)

#### many digits :: error :: Exceeds the limit
str(10**5000)
