# shellcheck shell=sh disable=SC2034,SC2154
# Systems that cannot run the course at all: one sentence and the way out.

check_platform() {
  system=$(uname -s)
  machine=$(uname -m)
  case $system in
    Linux) ;;
    Darwin)
      fail 'macOS has no CUDA compiler, and the simulator runs what nvcc builds for Linux.' \
        'Use a Linux container or a remote Linux machine, for example:' \
        "  docker run -it --rm -v \"\$PWD\":/warplings -w /warplings debian:12 ./grade" ;;
    MINGW* | MSYS* | CYGWIN* | Windows*)
      fail 'This is a Windows shell; the course needs Linux.' \
        'Use WSL2: run "wsl --install" in PowerShell, open Ubuntu, and clone the course there,' \
        'in its own home folder (files under /mnt/c are slow).' ;;
    *) fail "$system is not supported; the course needs Linux." \
      'Use a Linux container or a remote Linux machine.' ;;
  esac
  case $machine in
    x86_64 | amd64 | aarch64 | arm64) ;;
    *) fail "There is no CUDA 13 compiler for $machine; the course needs x86_64 or aarch64." \
      'Use another machine, or a container on one.' ;;
  esac
  for loader in /lib/ld-musl-*; do
    if [ -e "$loader" ] && ! [ -e /lib64/ld-linux-x86-64.so.2 ] &&
      ! [ -e /lib/ld-linux-aarch64.so.1 ]; then
      fail 'This system is built on musl (as Alpine is); the CUDA compiler needs glibc.' \
        'Use a Debian or Ubuntu container: docker run -it debian:12'
    fi
  done
}
