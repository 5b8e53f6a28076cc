#!/bin/sh
# Builds near.wasm with ZIG, which is `zig` unless it says otherwise.
set -eu
cd "$(dirname "$0")"
bindings=../../../../wit/c
out=${1:-near.wasm}
${ZIG:-zig} translate-c -target wasm32-wasi -lc "$bindings/matcher.h" > "$out.zig"
${ZIG:-zig} build-exe -target wasm32-wasi -mexec-model=reactor -OReleaseSmall -fstrip -rdynamic -lc \
  -femit-bin="$out.core" "$bindings/matcher.c" --dep matcher -Mroot=near.zig -Mmatcher="$out.zig"
${MCPTEST:-mcptest} extension build "$out.core" --world matcher --output "$out"
rm "$out.core" "$out.zig"
