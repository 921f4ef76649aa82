# shellcheck shell=sh disable=SC2034,SC2154
# What an earlier set-up found, and whether it still holds. This is all that a second start runs.

# Prints what the environment asks for: another answer than the stamp's means another set-up.
# Nothing asked for keeps the stamp, so that an editor's bare environment does not undo a shell's.
requested_tools() {
  if [ -n "${GRADE_IGNORE_SYSTEM_CUDA:-}" ]; then
    printf 'nvcc=private '
  elif [ -n "${CUDACXX:-}" ]; then
    printf 'nvcc=%s ' "$CUDACXX"
  elif [ -n "${CUDA_HOME:-}" ]; then
    printf 'nvcc=%s/bin/nvcc ' "$CUDA_HOME"
  fi
  if [ -n "${CXX:-}" ]; then printf 'cxx=%s' "$CXX"; fi
}

# What the simulator is compiled for: a folder that has come to another processor is configured again.
processor() { grep -m 1 '^flags' /proc/cpuinfo 2>/dev/null || true; }

load_stamp() {
  stamp=$GRADE_ROOT/build/setup/stamp
  stamp_format='' stamp_root='' stamp_requested='' stamp_processor='' stamp_dev=''
  grade_cxx='' GRADE_CUDA_HOME='' GRADE_NVCC='' GRADE_CMAKE='' GRADE_NINJA=''
  [ -f "$stamp" ] || return 1
  while IFS='=' read -r key value; do
    case $key in
      format) stamp_format=$value ;;
      root) stamp_root=$value ;;
      requested) stamp_requested=$value ;;
      processor) stamp_processor=$value ;;
      dev) stamp_dev=$value ;;
      cxx) grade_cxx=$value ;;
      cuda_home) GRADE_CUDA_HOME=$value ;;
      nvcc) GRADE_NVCC=$value ;;
      cmake) GRADE_CMAKE=$value ;;
      ninja) GRADE_NINJA=$value ;;
    esac
  done <"$stamp"
  [ "$stamp_format" = 1 ] && [ "$stamp_root" = "$GRADE_ROOT" ] || return 1
  [ -x "$grade_cxx" ] && [ -x "$GRADE_NVCC" ] && [ -x "$GRADE_CMAKE" ] || return 1
  [ -x "$GRADE_NINJA" ] && [ -f "$GRADE_ROOT/build/sim/build.ninja" ] || return 1
  [ "$stamp_processor" = "$(processor)" ] || return 1
  [ -z "$GRADE_DEV" ] || [ -n "$stamp_dev" ] || return 1
  requested=$(requested_tools)
  [ -z "$requested" ] || [ "$requested" = "$stamp_requested" ] || return 1
  # A new version of the course may need other tools.
  [ -z "$(find "$GRADE_ROOT/setup" -name '*.sh' -newer "$stamp" 2>&1)" ]
}

# The whole file appears at once: a stamp cut short would be taken for an answer.
write_stamp() {
  {
    printf 'format=1\nroot=%s\nrequested=%s\n' "$GRADE_ROOT" "$(requested_tools)"
    printf 'processor=%s\ndev=%s\n' "$(processor)" "$dev_targets"
    printf 'cxx=%s\nnvcc=%s\ncuda_home=%s\n' "$grade_cxx" "$GRADE_NVCC" "$GRADE_CUDA_HOME"
    printf 'cmake=%s\nninja=%s\n' "$GRADE_CMAKE" "$GRADE_NINJA"
  } >"$stamp.new" && mv "$stamp.new" "$stamp"
}

# Ninja knows which sources the grader was built from; a dry run asks it without starting anything.
grader_is_current() {
  [ -x "$GRADE_ROOT/build/sim/bin/grade" ] || return 1
  case $("$GRADE_NINJA" -C "$GRADE_ROOT/build/sim" -n grade.cli 2>/dev/null) in
    *'no work to do'*) return 0 ;;
  esac
  return 1
}
