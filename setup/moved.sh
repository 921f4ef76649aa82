# shellcheck shell=sh disable=SC2034,SC2154
# A course whose folder has moved. Build files name their folder, so CMake writes them anew, and Ninja,
# which sees that every command has changed, would compile everything again. What was compiled from
# the same files by the same command need not be: reuse.sh takes it as it is.

# Before configuring: what the old build files say.
remember_old_build() {
  moved_from=$stamp_root
  old=$GRADE_ROOT/build/setup/moved
  from=$(printf '%s' "$moved_from" | sed 's/[][\\.*^$|]/\\&/g')
  to=$(printf '%s' "$GRADE_ROOT" | sed 's/[\\&|]/\\&/g')
  mkdir -p "$old"
  for what in 'commands grade.ready' deps; do
    # shellcheck disable=SC2086
    "$GRADE_NINJA" -C "$GRADE_ROOT/build/sim" -t $what 2>/dev/null |
      sed "s|$from/|$to/|g" >"$old/${what%% *}" || true
  done
  # That one is made again when a GPU is next used.
  rm -f "$GRADE_ROOT/build/gpu/build.ninja"
}

# After configuring: the objects whose commands have not changed but for the folder.
find_what_can_be_reused() {
  "$GRADE_NINJA" -C "$GRADE_ROOT/build/sim" -t commands grade.ready 2>/dev/null |
    grep -xF -f "$old/commands" | sed -n 's/.* -o \([^ ]*\.o\) .*/\1/p' >"$old/objects" || true
  GRADE_MOVED=$old GRADE_MOVED_FROM=$moved_from
  export GRADE_MOVED GRADE_MOVED_FROM
}

forget_old_build() {
  rm -rf "$GRADE_ROOT/build/setup/moved"
  unset GRADE_MOVED GRADE_MOVED_FROM
}
