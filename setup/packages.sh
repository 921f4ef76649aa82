# shellcheck shell=sh disable=SC2034,SC2154
# Step 1: what find_tools misses comes from apt-get where that is possible, CMake and Ninja also
# from pip; otherwise the exact command is printed.

provide_tools() {
  find_tools
  if [ -n "$missing" ] && apt_is_allowed && may_install "$missing"; then
    install_packages "$missing"
    find_tools
  fi
  case $missing in
    *cmake* | *ninja*)
      if provide_pip; then
        fetch_build_tools
        find_tools
      fi ;;
  esac
  downloaded=''
  leave_to_cmake
  if [ -n "$missing" ] || [ -z "$grade_cxx" ]; then report_missing; fi
  progress "g++ $cxx_version, CMake $cmake_version, Ninja $ninja_version, GoogleTest," \
    "nlohmann-json, zlib${downloaded:+ (CMake will download$downloaded into build/)}"
}

# cmake/require_*.cmake fetch these two where the system lacks them.
leave_to_cmake() {
  for package in libgtest-dev nlohmann-json3-dev; do
    case " $missing " in
      *" $package "*)
        downloaded="$downloaded $package"
        missing=$(printf '%s' " $missing " | sed "s/ $package / /; s/^ *//; s/ *$//") ;;
    esac
  done
}

apt_is_updated=''

# Sets `as_root`: empty for root, sudo where it asks no password.
apt_is_allowed() {
  [ -z "${GRADE_NO_APT:-}" ] && command -v apt-get >/dev/null || return 1
  as_root=''
  [ "$(id -u)" = 0 ] && return 0
  as_root='sudo -n'
  command -v sudo >/dev/null && sudo -n true 2>/dev/null
}

# Whether these packages may be installed for the whole system: with --yes, or after a yes. Root is
# asked as well, unless nobody is there to answer or the system is a container, which is thrown away.
may_install() {
  [ -z "${GRADE_YES:-}" ] || return 0
  if ! [ -t 0 ] || ! [ -t 2 ]; then
    [ -z "$as_root" ]
    return
  fi
  if [ -z "$as_root" ] && in_container; then return 0; fi
  say "The course needs packages of the system: $1"
  printf 'Install them with %sapt-get now? [y/N] ' "${as_root:+sudo }" >&2
  read -r answer || answer=''
  case $answer in y | Y | yes) return 0 ;; esac
  return 1
}

in_container() {
  [ -e /.dockerenv ] || [ -e /run/.containerenv ] || [ -n "${container:-}" ] ||
    grep -q 'docker\|kubepods\|containerd\|lxc' /proc/1/cgroup 2>/dev/null
}

# install_packages "PACKAGE..."
install_packages() {
  progress "installing system-wide with ${as_root:+sudo }apt-get: $1"
  packages=$1
  if [ -z "$apt_is_updated" ]; then
    run_apt update || apt_failed
    apt_is_updated=yes
  fi
  # shellcheck disable=SC2086
  run_apt install -y --no-install-recommends $packages || apt_failed
  progress "installed in $command_seconds s"
}

# Package scripts need tools of /usr/sbin, which a bare PATH lacks.
run_apt() {
  # shellcheck disable=SC2086
  run_logged apt $as_root env PATH="$PATH:/usr/sbin:/sbin" DEBIAN_FRONTEND=noninteractive \
    apt-get -q -o DPkg::Lock::Timeout=120 "$@"
}

apt_failed() {
  if disk_is_full; then
    fail_command 'Free about 500 MB on the disk that holds /usr.'
  elif network_is_down; then
    fail_command 'Check the network connection (behind a proxy: set https_proxy).' \
      "Or install these some other way: $packages"
  elif log_says 'could not get lock|unable to lock|unable to acquire'; then
    fail_command 'Another package manager is running; wait until it is done.'
  elif log_says 'unable to locate package|no installation candidate'; then
    fail_command 'The package sources lack a package: enable "universe" on Ubuntu, or "main".' \
      "Or install these some other way: $packages"
  fi
  fail_command 'Run the command above in a terminal and follow what it says.' \
    "Or install these some other way: $packages"
}

report_missing() {
  if [ -z "$grade_cxx" ] && [ -n "$unfit_cxx" ]; then
    fail "no g++ of version 11 to 15:${unfit_cxx%;}" \
      'Install one beside it (for example: apt-get install g++-12), or name one: CXX=/path/to/g++'
  fi
  missing=$missing$downloaded  # with root rights the packages are better than a download
  what="missing: $missing${unfit_cmake:-}"
  if command -v apt-get >/dev/null; then
    sudo=''
    [ "$(id -u)" = 0 ] || sudo='sudo '
    command="${sudo}apt-get update && ${sudo}apt-get install -y $missing"
    if [ -n "$sudo" ] && apt_is_allowed; then
      fail "$what" "$command" 'or let set-up do that: ./grade --yes'
    fi
    fail "$what" "$command"
  fi
  distribution=$(sed -n 's/^PRETTY_NAME="\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' /etc/os-release 2>/dev/null)
  fail "$what (names of Debian packages), and ${distribution:-this system} has no apt-get" \
    'Install what corresponds to them with your package manager, for example one of:' \
    '  dnf install gcc-c++ cmake ninja-build gtest-devel json-devel zlib-devel' \
    '  pacman -S --needed gcc cmake ninja gtest nlohmann-json zlib' \
    '  zypper install gcc-c++ cmake ninja gtest nlohmann_json-devel zlib-devel'
}
