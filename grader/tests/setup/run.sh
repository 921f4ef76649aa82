#!/bin/sh
# Tests of ./grade and setup/: run.sh [PATTERN]. Fake tools, no network, nothing installed.
# Ends with "N passed, M failed".
set -u
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
repository=$(CDPATH='' cd -- "$here/../../.." && pwd -P)
# shellcheck source=grader/tests/setup/fixture.sh
. "$here/fixture.sh"

passed=0
failed=0
everything=$(mktemp -d)
trap 'rm -rf "$everything"' EXIT
trap 'exit 130' INT TERM
link_utilities "$everything/basics"

for suite in launcher tools cuda build platform data libraries python_env; do
  # shellcheck disable=SC1090
  . "$here/test_$suite.sh"
  # shellcheck disable=SC2013
  for name in $(sed -n 's/^\(test_[a-z0-9_]*\)().*/\1/p' "$here/test_$suite.sh"); do
    case "$suite $name" in *"${1:-}"*) ;; *) continue ;; esac
    work=$everything/$name
    mkdir "$work"
    if (new_course && "$name"); then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      echo "FAIL  $suite: $name"
    fi
    rm -rf "$work"
  done
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
