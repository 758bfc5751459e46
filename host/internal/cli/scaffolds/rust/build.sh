#!/bin/sh
# Builds plugin.wasm.
set -e
cd "$(dirname "$0")"
${RUSTC:-rustc} --edition 2021 --crate-type cdylib --target wasm32-unknown-unknown -C opt-level=s -C lto -C panic=abort \
  -C strip=symbols -C link-arg=-zstack-size=262144 $RUSTFLAGS -o plugin.wasm plugin.rs
