# shellcheck shell=sh disable=SC2034,SC2154
# pip, for the two things that can come from it: the CUDA compiler, and CMake and Ninja.

# provide_pip: makes `pip_install` usable; status 1 when there is no way to.
provide_pip() {
  if pip_works; then return 0; fi
  if command -v python3 >/dev/null && make_venv; then return 0; fi
  apt_is_allowed || return 1
  install_packages 'python3 python3-pip'
  pip_works
}

pip_works() {
  pip_python=$(command -v python3) || return 1
  "$pip_python" -m pip --version >/dev/null 2>&1 && return 0
  pip_python=$toolkit_dir/venv/bin/python3
  [ -x "$pip_python" ] && "$pip_python" -m pip --version >/dev/null 2>&1
}

# Some systems have Python's venv without pip.
make_venv() {
  python3 -c 'import ensurepip' 2>/dev/null || return 1
  make_temp_dir
  run_logged venv python3 -m venv "$temp_dir/venv" || return 1
  rm -rf "$toolkit_dir/venv"
  mv "$temp_dir/venv" "$toolkit_dir/venv"
  clean_up
  pip_works
}

no_pip() {
  sudo=''
  [ "$(id -u)" = 0 ] || sudo='sudo '
  if command -v apt-get >/dev/null; then
    fail "$1" "${sudo}apt-get install -y python3 python3-pip"
  fi
  fail "$1" 'Install Python 3.9 or later with pip.'
}

# pip_install LOG PACKAGE...: into $temp_dir/packages. --target leaves the user's Python alone. Wheels
# already downloaded stay in .toolkit/cache until the end, so that a broken download goes on there.
pip_install() {
  pip_log=$1
  shift
  growing_dir=$toolkit_dir
  run_logged "$pip_log" env PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0 TMPDIR="$temp_dir" \
    "$pip_python" -m pip --disable-pip-version-check --no-input --cache-dir "$toolkit_dir/cache" \
    install --target "$temp_dir/packages" --no-compile --progress-bar off \
    --only-binary=:all: "$@"
}

# pip_failed MEGABYTES
pip_failed() {
  clean_up
  if disk_is_full; then
    rm -rf "$toolkit_dir/cache"
    fail_command "Free about $1 MB on the disk that holds $GRADE_ROOT."
  elif log_says 'certificate.verify.failed'; then
    fail_command 'This network inspects TLS, or the certificates of this system are missing or old:' \
      "install ca-certificates, or name the network's own: PIP_CERT=/path/to/ca.pem ./grade"
  elif network_is_down; then
    fail_command 'Check the network connection; pip must reach the package index.' \
      'Behind a proxy set https_proxy; with a mirror set PIP_INDEX_URL.'
  elif log_says 'no matching distribution|could not find a version'; then
    fail_command "This pip finds no fitting package: $("$pip_python" -m pip --version 2>/dev/null | cut -c 1-20)." \
      'pip 20.3 or later is needed (python3 -m pip install --user --upgrade pip), and an index' \
      'that has the packages (see PIP_INDEX_URL and ~/.config/pip/pip.conf).'
  fi
  fail_command "Run the command above in a terminal and follow what it says."
}

fetch_build_tools() {
  progress 'CMake and Ninja: downloading about 30 MB with pip into .toolkit/tools'
  make_temp_dir
  pip_install tools 'cmake>=3.24,<5' 'ninja>=1.10' || pip_failed 150
  rm -rf "$toolkit_dir/tools"
  mv "$temp_dir/packages" "$toolkit_dir/tools"
  rm -rf "$toolkit_dir/cache"
  clean_up
  progress "downloaded in $command_seconds s"
}
