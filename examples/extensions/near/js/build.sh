#!/bin/sh
# Builds near.wasm with COMPONENTIZE_QJS, which is the one of `npm install` unless it says otherwise.
set -eu
cd "$(dirname "$0")"
${COMPONENTIZE_QJS:-node_modules/.bin/componentize-qjs} --wit ../../../../wit --world matcher --js near.js \
  --sync --output "${1:-near.wasm}"
