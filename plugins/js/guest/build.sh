#!/bin/sh
# Builds interpreter.wasm, or the file that is named. CLANG is a clang 14 with the target wasm32-wasi, WASI_SYSROOT its
# headers and libraries (Debian: clang-14 lld-14 wasi-libc libclang-rt-14-dev-wasm32, and /usr), QUICKJS a folder with
# the source of QuickJS 2021-03-27. It is checked in because few machines have them; `go test ./plugins -update` builds
# and records it.
set -e
out="${1:-interpreter.wasm}"
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
{
  printf 'const char prelude[] = {'
  od -An -v -tu1 prelude.js | tr -s ' \n' ',,' | sed 's/^,//'
  printf '0};\n'
} > "$tmp/prelude.c"
sysroot="${WASI_SYSROOT:-/usr}"
"${CLANG:-clang-14}" --target=wasm32-wasi --sysroot="$sysroot" -isystem "$sysroot/include/wasm32-wasi" \
  -L"$sysroot/lib/wasm32-wasi" -Os -mexec-model=reactor -D_GNU_SOURCE -DEMSCRIPTEN -DCONFIG_STACK_CHECK \
  -DCONFIG_VERSION='"2021-03-27"' -include rounding.h -I"$QUICKJS" -w -c "$QUICKJS/quickjs.c" -o "$tmp/quickjs.o"
"${CLANG:-clang-14}" --target=wasm32-wasi --sysroot="$sysroot" -isystem "$sysroot/include/wasm32-wasi" \
  -L"$sysroot/lib/wasm32-wasi" -Os -mexec-model=reactor -D_GNU_SOURCE -DEMSCRIPTEN -I"$QUICKJS" -w \
  -Wl,--strip-all -Wl,-z,stack-size=262144 -Wl,--stack-first -o "$out" \
  "$tmp/quickjs.o" "$QUICKJS/libregexp.c" "$QUICKJS/libunicode.c" "$QUICKJS/cutils.c" interpreter.c rounding.c "$tmp/prelude.c"
