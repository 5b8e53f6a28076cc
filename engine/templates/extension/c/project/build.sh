#!/bin/sh
# Builds {{name}}.wasm. CC is a C compiler for WebAssembly: `zig cc`, or a clang with wasi-libc.
set -eu
cd "$(dirname "$0")"
${CC:-zig cc} -target wasm32-wasi -mexec-model=reactor -Os -s -Ibindings extension.c bindings/matcher.c -o {{name}}.core.wasm
${MCPTEST:-mcptest} extension build {{name}}.core.wasm --world {{role}} --output {{name}}.wasm
rm {{name}}.core.wasm
