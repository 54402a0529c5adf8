#!/usr/bin/env bash
# Runs the first command of the README as it stands there and checks its answer
# against wc; the second is the last step of .ci/run.
set -euo pipefail
cd "$(dirname "$0")/.."
command=$(awk '/^```sh$/ {on=1; next} /^```$/ {on=0} on' README.md | grep -m1 '^go run')
echo "\$ $command"
answer=$(eval "$command")
echo "$answer"
want=$(wc -w < README.md | tr -d ' ')
case "$answer" in
  *"$want words"*) ;;
  *) echo "the answer should name $want words" >&2; exit 1 ;;
esac
