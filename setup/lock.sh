# shellcheck shell=sh disable=SC2034,SC2154
# One set-up at a time, and nothing temporary left behind when it is interrupted.

temp_dir=''

# The kernel releases a flock when its holder dies, however it dies: no stale locks.
take_lock() {
  trap 'clean_up' EXIT
  trap 'interrupted 129' HUP
  trap 'interrupted 130' INT
  trap 'interrupted 143' TERM
  if ! (: >>"$GRADE_ROOT/build/.lock") 2>/dev/null; then
    fail "cannot write $GRADE_ROOT/build/.lock" \
      "Make the folder writable; if root owns it: sudo chown -R \"\$(id -un)\" '$GRADE_ROOT'"
  fi
  exec 9>>"$GRADE_ROOT/build/.lock"
  command -v flock >/dev/null || return 0
  if ! flock -n 9; then
    say 'Another ./grade is setting up this clone; waiting until it is done.'
    flock 9
  fi
}

release_lock() {
  clean_up
  trap - EXIT HUP INT TERM
  exec 9>&-
}

# make_temp_dir: a folder on the same disk as its destination, so that moving it there is atomic.
make_temp_dir() {
  if ! mkdir -p "$toolkit_dir" 2>/dev/null; then
    fail "cannot create the folder $toolkit_dir" 'Make the clone writable and free some disk space.'
  fi
  # Left by a set-up that was killed; the lock says that none is running now.
  rm -rf "$toolkit_dir"/tmp.*
  temp_dir=$(mktemp -d "$toolkit_dir/tmp.XXXXXX") ||
    fail "cannot create a folder in $toolkit_dir" 'Free some disk space.'
}

clean_up() {
  stop_ticker
  [ -z "${ahead:-}" ] || kill "$ahead" 2>/dev/null || true
  if [ -n "$temp_dir" ]; then
    rm -rf "$temp_dir"
    temp_dir=''
  fi
}

interrupted() {
  trap - EXIT HUP INT TERM
  clean_up
  say ''
  say "grade: set-up interrupted in step $step_number of 4, $step_name. Nothing unfinished is kept."
  say '  next     ./grade starts this step again.'
  exit "$1"
}
