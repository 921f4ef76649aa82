# shellcheck shell=sh disable=SC2034,SC2154
# Progress, long commands and failures. Everything goes to stderr: stdout belongs to the grader.

say() { printf '%s\n' "$*" >&2; }

# step NUMBER NAME: names the step that every later message belongs to.
step() {
  step_number=$1
  step_name=$2
}

progress() { say "[$step_number/4] $step_name: $*"; }

# Prints a command so that it can be pasted into a shell.
quoted() {
  separator=''
  for word in "$@"; do
    case $word in
      '' | *[!A-Za-z0-9_./:=@%+,-]*)
        word="'$(printf '%s' "$word" | sed "s/'/'\\\\''/g")'" ;;
    esac
    printf '%s%s' "$separator" "$word"
    separator=' '
  done
}

# On a terminal, shows every second how long a command has run, how large growing_dir is by now,
# and what the command printed last.
growing_dir=''
start_ticker() {
  ticker=''
  if [ ! -t 2 ] || [ "${TERM:-dumb}" = dumb ]; then return 0; fi
  (
    trap - EXIT INT TERM HUP
    elapsed=0
    while sleep 1; do
      elapsed=$((elapsed + 1))
      size=${growing_dir:+", $(du -sm "$growing_dir" 2>/dev/null | cut -f 1) MB"}
      last=$(tail -c 400 "$log" 2>/dev/null | tr '\r' '\n' | tail -n 1 | tr -cd '[:print:]')
      printf '\r\033[K      %3d s%s  %.56s' "$elapsed" "$size" "$last" >&2
    done
  ) 9>&- &
  ticker=$!
}

stop_ticker() {
  [ -n "${ticker:-}" ] || return 0
  kill "$ticker" 2>/dev/null || true
  wait "$ticker" 2>/dev/null || true
  ticker='' growing_dir=''
  printf '\r\033[K' >&2
}

# run_logged LOG COMMAND...: runs it with its output in build/setup/LOG.log and returns its status.
# The command stays in the foreground, so that Ctrl-C reaches it.
run_logged() {
  log=$GRADE_ROOT/build/setup/$1.log
  shift
  last_command=$(quoted "$@")
  command_status=0
  command_start=$(date +%s)
  : >"$log" || fail "cannot write $log" "Free some disk space, or make the folder writable."
  start_ticker
  "$@" >"$log" 2>&1 </dev/null || command_status=$?
  stop_ticker
  command_seconds=$(($(date +%s) - command_start))
  return "$command_status"
}

# fail WHAT NEXT...: ends set-up with status 2.
fail() {
  say ''
  say "grade: set-up stopped at step $step_number of 4, $step_name."
  say "  what     $1"
  shift
  say_next "$@"
  exit 2
}

# fail_command NEXT...: the same for the command that run_logged ran last.
fail_command() {
  say ''
  say "grade: set-up stopped at step $step_number of 4, $step_name."
  say "  failed   $last_command"
  say "           exit status $command_status after $command_seconds s; its last lines:"
  tail -n 12 "$log" | cut -c 1-200 | sed 's/^/           | /' >&2
  say "  log      $log"
  say_next "$@"
  exit 2
}

say_next() {
  label='next'
  for line in "$@"; do
    printf '  %-8s %s\n' "$label" "$line" >&2
    label=''
  done
  say '           Then run ./grade again: it goes on from the step that failed.'
}

log_says() { grep -qiE "$1" "$log"; }

network_is_down() {
  log_says 'temporary failure (in name resolution|resolving)|could not resolve|name or service not known|network is unreachable|no route to host|connection (refused|reset|broken|timed out)|read timed out|max retries|NewConnectionError|ProxyError|failed to fetch|unable to connect'
}

disk_is_full() { log_says 'no space left on device|disk quota exceeded|not enough free space'; }
