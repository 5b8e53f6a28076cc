#!/bin/sh
# Builds the matcher into the file that is named.
set -eu
cc -O2 -Wall -Wextra -Werror -o "$1" near.c -lm
