# shellcheck shell=sh disable=SC2034,SC2154
# Systems that cannot run the course: one sentence and the way out.

expect_refused() {
  grade list
  expect_stopped_at 1 Tools
  expect_says "$@"
  expect_no_file "$FAKE/calls"
}

test_macos() {
  echo Darwin >"$FAKE/system"
  expect_refused 'macOS has no CUDA compiler' 'docker run'
}

test_git_bash_on_windows() {
  echo MINGW64_NT-10.0-22631 >"$FAKE/system"
  expect_refused 'This is a Windows shell' 'wsl --install'
}

test_cygwin() {
  echo CYGWIN_NT-10.0 >"$FAKE/system"
  expect_refused 'This is a Windows shell' 'WSL2'
}

test_another_unix() {
  echo FreeBSD >"$FAKE/system"
  expect_refused 'FreeBSD is not supported' 'container'
}

test_another_processor() {
  echo riscv64 >"$FAKE/machine"
  expect_refused 'no CUDA 13 compiler for riscv64' 'x86_64 or aarch64'
}
