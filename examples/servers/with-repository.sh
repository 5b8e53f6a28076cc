#!/bin/sh
# Makes a git repository with one commit and one change at $1, then becomes the rest of the command.
set -eu
repository=$1
shift
git init --quiet "$repository"
echo hello > "$repository/a.txt"
git -C "$repository" add a.txt
git -C "$repository" -c user.name=Ada -c user.email=ada@example.com -c commit.gpgsign=false commit --quiet --message "First"
echo world >> "$repository/a.txt"
exec "$@"
