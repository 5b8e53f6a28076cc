#!/bin/sh
# Builds near.wasm. CC is a C compiler for WebAssembly: `zig cc`, or a clang with wasi-libc (see docs/extensions.md).
set -eu
cd "$(dirname "$0")"
bindings=../../../../wit/c
out=${1:-near.wasm}
${CC:-zig cc} -target wasm32-wasi -mexec-model=reactor -Os -s -I"$bindings" near.c "$bindings/matcher.c" -o "$out.core"
${MCPTEST:-mcptest} extension build "$out.core" --world matcher --output "$out"
rm "$out.core"
