# shellcheck shell=sh disable=SC2034,SC2154
# Progress, long commands and failures. Everything goes to stderr: stdout belongs to the grader.

say() { printf '%s\n' "$*" >&2; }

# step NUMBER NAME: names the step that every later message belongs to.
step() {
  step_number=$1
  step_name=$2
}

# In a terminal it is wrapped between words.
progress() {
  message="[$step_number/4] $step_name: $*" columns=''
  [ ! -t 2 ] || columns=$(stty size <&2 2>/dev/null) || columns=''
  columns=${columns#* }
  if [ "${columns:-0}" -ge 40 ] && [ ${#message} -gt "$columns" ]; then
    message=$(printf '%s\n' "$message" | fold -s -w $((columns - 6)) | sed '2,$s/^/      /')
  fi
  say "$message"
}

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

# While a command runs, says how far it is: every second in one line of a terminal, elsewhere in a line
# every 15 seconds. Ninja's steps are counted; of any other command, what it printed last is shown, and
# how large growing_dir is by now. `steps`: how many Ninja will have.
growing_dir='' steps=''
start_ticker() {
  ticker=''
  rewrites=''
  if [ -t 2 ] && [ "${TERM:-dumb}" != dumb ]; then rewrites=yes; fi
  (
    trap - EXIT INT TERM HUP
    elapsed=0
    while :; do
      if [ -n "$rewrites" ]; then
        printf '\r\033[K      %.54s' "$(how_far)" >&2
      elif [ "$elapsed" -gt 0 ] && [ $((elapsed % 15)) = 0 ]; then
        progress "$(how_far)"
      fi
      sleep 1
      elapsed=$((elapsed + 1))
    done
  ) 9>&- &
  ticker=$!
}

# "12 of 53, app.cpp, 14 s"
how_far() {
  last=$(tail -c 400 "$log" 2>/dev/null | tr '\r' '\n' | tail -n 1 | tr -cd '[:print:]')
  case $last in
    '['*/*'] '*)
      count=${last%%']'*}
      file=${last##*[/ ]}
      case $file in unity_*_cxx.cxx.o) file=${file#unity_} file=${file%_cxx.cxx.o} ;; esac
      last="${count#'['}, ${file%.o}"
      last="${last%%/*} of ${last#*/}" ;;
    '') last=${steps:+"0 of $steps"} ;;
  esac
  size=${growing_dir:+"$(du -sm "$growing_dir" 2>/dev/null | cut -f 1) MB, "}
  printf '%s%s%s s' "${last:+"$last, "}" "$size" "$elapsed"
}

stop_ticker() {
  [ -n "${ticker:-}" ] || return 0
  # A gentler signal is lost on a shell that has only begun.
  kill -9 "$ticker" 2>/dev/null || true
  wait "$ticker" 2>/dev/null || true
  ticker='' growing_dir='' steps=''
  [ -z "$rewrites" ] || printf '\r\033[K' >&2
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
