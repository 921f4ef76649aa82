#!/bin/sh
# shellcheck disable=SC2034,SC2154
# CUDA's libraries for machines with a GPU, NVRTC and CUTLASS, from NVIDIA's wheels on PyPI, into .toolkit/libraries:
#   sh setup/libraries.sh                  what there is, what is here, how much each downloads
#   sh setup/libraries.sh NAME... | all    fetches these, after a question
#   sh setup/libraries.sh --yes NAME...    without one
# Nothing else calls it. Without a GPU two exercises need one of them, 09/16 the headers of CUTLASS and
# 09/19 the compiler NVRTC: else the simulator has libraries of its own.
# Exit status: 0 done or nothing to do, 1 not done, 2 wrong arguments.
set -eu

GRADE_ROOT=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
for part in report lock packages python; do
  # shellcheck disable=SC1090
  . "$GRADE_ROOT/setup/$part.sh"
done
toolkit_dir=$GRADE_ROOT/.toolkit
libraries_dir=$toolkit_dir/libraries
known='cublas cufft curand cudnn nccl nvrtc cutlass'

# facts NAME: sets package, megabytes (to download), header, library (the file, without its version;
# CUTLASS is headers alone).
# Versions are those that go with CUDA 13.0.2 of setup/toolkit.sh.
facts() {
  library=lib$1.so
  case $1 in
    cublas) package=nvidia-cublas==13.1.0.3 megabytes=423 header=cublas_v2.h ;;
    cufft) package=nvidia-cufft==12.0.0.61 megabytes=261 header=cufft.h ;;
    curand) package=nvidia-curand==10.4.0.35 megabytes=60 header=curand.h ;;
    cudnn) package=nvidia-cudnn-cu13==9.14.0.64 megabytes=366 header=cudnn.h ;;
    nccl) package=nvidia-nccl-cu13==2.28.9 megabytes=197 header=nccl.h ;;
    nvrtc) package=nvidia-cuda-nvrtc==13.0.88 megabytes=90 header=nvrtc.h ;;
    cutlass) package=nvidia-cutlass==4.2.0.0 megabytes=7 header=cutlass/cutlass.h library='' ;;
    *) return 1 ;;
  esac
}

used_by() {
  case $1 in
    cublas) echo 'matrix products; chapters 07, 09, 12; cudnn needs it' ;;
    cufft) echo 'Fourier transforms; chapter 08' ;;
    curand) echo 'random numbers; chapter 09' ;;
    cudnn) echo 'convolutions and layers; chapters 08, 09, 12' ;;
    nccl) echo 'several GPUs; chapters 10 and 12' ;;
    nvrtc) echo 'a compiler in the program; 09/19, also without a GPU' ;;
    cutlass) echo 'products as templates; 09/16, also without a GPU' ;;
  esac
}

# The messages of ./grade name its steps; here there are none.
progress() { say "Libraries: $*"; }
fail() {
  say "$1"
  shift
  for line in "$@"; do say "  next     $line"; done
  exit 1
}
fail_command() {
  say "failed     $last_command"
  tail -n 12 "$log" | cut -c 1-200 | sed 's/^/           | /' >&2
  fail "The libraries were not fetched; what was here is as it was. Log: $log" "$@"
}
interrupted() {
  trap - EXIT HUP INT TERM
  clean_up
  say 'Interrupted. Nothing unfinished is kept; downloads go on where they stopped.'
  exit "$1"
}

usage() { sed -n '4,8s/^# //p' "$0"; }

# The mark is written last: a library without it is not here.
is_here() { facts "$1" && [ "$(cat "$libraries_dir/.$1" 2>/dev/null)" = "$package" ]; }

list_libraries() {
  for name in $known; do
    facts "$name"
    state="$megabytes MB to download"
    if is_here "$name"; then state='is here'; fi
    printf '%-8s %-20s %s\n' "$name" "$state" "$(used_by "$name")"
  done
  usage
}

read_arguments() {
  agreed='' wanted=''
  for argument in "$@"; do
    case $argument in
      -h | --help) list_libraries; exit 0 ;;
      --yes) agreed=yes ;;
      all) wanted="$wanted $known" ;;
      *)
        if ! facts "$argument"; then
          say "There is no library \"$argument\"; there are: $known, or all."
          exit 2
        fi
        wanted="$wanted $argument" ;;
    esac
  done
  case " $wanted " in *' cudnn '*) wanted="$wanted cublas" ;; esac
}

# Sets missing_libraries and total, the megabytes to download.
count_missing() {
  missing_libraries='' total=0
  for name in $known; do
    case " $wanted " in *" $name "*) ;; *) continue ;; esac
    if is_here "$name"; then continue; fi
    facts "$name"
    missing_libraries="$missing_libraries $name"
    total=$((total + megabytes))
  done
}

# Wheels, what they unpack to, and the copy that stays: three times the download is enough.
require_room() {
  free_mb=$(df -Pm "$GRADE_ROOT" 2>/dev/null | awk 'NR == 2 { print $4 }')
  if [ "${free_mb:-$((3 * total))}" -lt $((3 * total)) ]; then
    fail "The disk that holds $GRADE_ROOT has $free_mb MB free; this needs about $((3 * total))." \
      'Free that much, or fetch fewer libraries.'
  fi
}

ask() {
  progress "$(echo "$missing_libraries" | sed 's/^ //; s/ /, /g'): $total MB to download into .toolkit/libraries"
  if [ -n "$agreed" ]; then return 0; fi
  if ! [ -t 0 ]; then fail 'Nothing was fetched: nobody can be asked here.' 'Add --yes.'; fi
  printf 'Fetch them? [y/N] ' >&2
  read -r answer || answer=''
  case $answer in [yY] | [yY][eE][sS]) ;; *) fail 'Nothing was fetched.' ;; esac
}

fetch() {
  provide_pip || fail 'Fetching the libraries needs python3 with pip.' \
    'Install Python 3.9 or later with pip.'
  make_temp_dir
  packages='' headers=''
  for name in $missing_libraries; do
    facts "$name"
    if [ -n "$library" ]; then packages="$packages $package"; else headers="$headers $package"; fi
  done
  # shellcheck disable=SC2086
  if [ -n "$packages" ]; then pip_install libraries $packages || pip_failed $((3 * total)); fi
  # CUTLASS's package also asks for what its generators need.
  # shellcheck disable=SC2086
  if [ -n "$headers" ]; then pip_install libraries --no-deps $headers || pip_failed $((3 * total)); fi
}

# All wheels in one include and one lib, where CMake and the loader look. Linkers look for names
# without a version, which the wheels lack.
assemble() {
  mkdir -p "$libraries_dir/include" "$libraries_dir/lib" "$libraries_dir/licenses" ||
    fail "Cannot write $libraries_dir." 'Make the clone writable and free some disk space.'
  for name in $missing_libraries; do rm -f "$libraries_dir/.$name"; done
  for tree in "$temp_dir"/packages/nvidia/* "$temp_dir"/packages/cutlass_library/source; do
    for part in include lib; do
      if [ -d "$tree/$part" ]; then cp -R "$tree/$part/." "$libraries_dir/$part/"; fi
    done
  done
  cp -R "$temp_dir"/packages/*.dist-info "$libraries_dir/licenses/"
  for file in "$libraries_dir"/lib/lib*.so.*; do
    short=${file%%.so.*}.so
    [ -e "$short" ] || ln -s "${file##*/}" "$short"
  done
  for name in $missing_libraries; do
    facts "$name"
    if ! [ -f "$libraries_dir/include/$header" ] || ! [ -e "$libraries_dir/lib/$library" ]; then
      fail "The package $package does not hold $header${library:+ and $library}." \
        'Check which index pip uses (PIP_INDEX_URL, pip config list); it must serve the originals.'
    fi
    echo "$package" >"$libraries_dir/.$name"
  done
}

main() {
  read_arguments "$@"
  if [ -z "$wanted" ]; then
    list_libraries
    exit 0
  fi
  count_missing
  if [ -z "$missing_libraries" ]; then
    say 'They are here: .toolkit/libraries'
    exit 0
  fi
  require_room
  ask
  mkdir -p "$GRADE_ROOT/build/setup" || fail "Cannot write $GRADE_ROOT/build." 'Make it writable.'
  take_lock
  fetch
  assemble
  rm -rf "$toolkit_dir/cache"
  rm -f "$GRADE_ROOT"/build/*/build.ninja  # so that the next ./grade looks for libraries again
  release_lock
  progress "fetched in $command_seconds s; to remove them: rm -rf .toolkit/libraries"
}

main "$@"
