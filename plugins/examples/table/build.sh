#!/bin/sh
# Builds table.wasm, or the file that is named. It is checked in because not every machine has Rust's target for
# WebAssembly (rustup target add wasm32-unknown-unknown); `go test ./plugins -update` builds and records it.
set -e
cd "$(dirname "$0")"
${RUSTC:-rustc} --edition 2021 --crate-type cdylib --target wasm32-unknown-unknown -C opt-level=s -C lto -C panic=abort \
  -C strip=symbols -C link-arg=-zstack-size=262144 $RUSTFLAGS -o "${1:-table.wasm}" table.rs
