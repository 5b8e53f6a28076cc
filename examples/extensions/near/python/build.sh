#!/bin/sh
# Builds near.wasm with COMPONENTIZE_PY, which is the one on the path unless it says otherwise.
set -eu
cd "$(dirname "$0")"
${COMPONENTIZE_PY:-componentize-py} -d ../../../../wit -w matcher componentize near -o "${1:-near.wasm}"
