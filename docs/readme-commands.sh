#!/usr/bin/env bash
# Runs the first command of the README as it stands there and counts the words
# once more; the second is the last step of .ci/run.
set -euo pipefail
cd "$(dirname "$0")/.."
command=$(awk '/^```sh$/ {on=1; next} /^```$/ {on=0} on' README.md | grep -m1 '^go run')
echo "\$ $command"
answer=$(eval "$command")
echo "$answer"
# Not wc: in the C locale it takes no word of other than ASCII for one.
want=$(LC_ALL=C awk '{n += NF} END {print n}' README.md)
case "$answer" in
  *"$want words"*) ;;
  *) echo "the answer should name $want words" >&2; exit 1 ;;
esac
