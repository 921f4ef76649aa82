# shellcheck shell=sh disable=SC2034,SC2154
# Step 2: an nvcc of CUDA 13, from the environment, PATH, the usual places or a private download.
# The simulator reads what nvcc 13 writes, so an older or newer one is reported and passed over.

provide_cuda() {
  GRADE_NVCC='' GRADE_CUDA_HOME=''
  if [ -z "${GRADE_IGNORE_SYSTEM_CUDA:-}" ]; then
    find_system_nvcc
  fi
  if [ -z "$GRADE_NVCC" ]; then
    if ! toolkit_is_whole; then fetch_toolkit; fi
    accept_nvcc "$toolkit_dir/cuda/bin/nvcc" ||
      fail "the compiler in $toolkit_dir/cuda does not run" "rm -rf '$toolkit_dir'"
  fi
  progress "nvcc $nvcc_version at $GRADE_NVCC"
  write_clangd
}

find_system_nvcc() {
  if [ -n "${CUDACXX:-}" ]; then accept_or_say CUDACXX "$CUDACXX" && return; fi
  if [ -n "${CUDA_HOME:-}" ]; then accept_or_say CUDA_HOME "$CUDA_HOME/bin/nvcc" && return; fi
  if command -v nvcc >/dev/null; then accept_or_say PATH nvcc && return; fi
  for nvcc in /usr/local/cuda/bin/nvcc /usr/local/cuda-13*/bin/nvcc /opt/cuda/bin/nvcc; do
    [ ! -x "$nvcc" ] || ! accept_nvcc "$nvcc" || return 0
  done
}

# accept_or_say ORIGIN NVCC
accept_or_say() {
  accept_nvcc "$2" && return 0
  progress "passing over $2 (from $1): $nvcc_problem"
  return 1
}

# accept_nvcc NVCC: sets GRADE_NVCC and GRADE_CUDA_HOME, or nvcc_problem.
accept_nvcc() {
  nvcc_problem='there is no such program'
  nvcc_path=$(command -v "$1" 2>/dev/null) || return 1
  # nvcc looks for its parts beside the path that it was called by, also where that is a link.
  nvcc_target=$(readlink -f "$nvcc_path") || return 1
  case $nvcc_target in */nvcc) nvcc_path=$nvcc_target ;; esac
  nvcc_version=$("$nvcc_path" --version 2>/dev/null | sed -n 's/.*, V\([0-9.]*\).*/\1/p')
  case $nvcc_version in
    13.*) ;;
    '') nvcc_problem='nvcc --version fails' && return 1 ;;
    *) nvcc_problem="it is CUDA $nvcc_version, and the simulator needs CUDA 13" && return 1 ;;
  esac
  nvcc_home=$("$nvcc_path" --dryrun -x cu /dev/null 2>&1 | sed -n 's/^#\$ TOP=//p')
  nvcc_home=$(CDPATH='' cd -- "${nvcc_home:-$(dirname "$nvcc_path")/..}" 2>/dev/null && pwd -P)
  nvcc_problem="the headers of CUDA are not installed beside it"
  for include in "$nvcc_home/include" "$nvcc_home"/targets/*/include; do
    if [ -f "$include/cuda_runtime.h" ]; then
      GRADE_NVCC=$nvcc_path
      GRADE_CUDA_HOME=$nvcc_home
      return 0
    fi
  done
  return 1
}

# Points clangd, and so most editors, at the headers; the flags are those that only nvcc knows.
write_clangd() {
  cat >"$GRADE_ROOT/.clangd.new" <<CLANGD
# Written by ./grade (setup/cuda.sh) for the CUDA toolkit that it chose.
CompileFlags:
  CompilationDatabase: build/sim
  Remove: [--generate-code=*, -gencode*, -arch=*, -forward-unknown-to-host-compiler, -lineinfo,
           --no-compress, -Xcompiler=*, -Xcudafe=*, --options-file, -ccbin=*, -rdc=*, --expt-*]
  Add: ["--cuda-path=$GRADE_CUDA_HOME", --cuda-gpu-arch=sm_80, --no-cuda-version-check,
        -Wno-unknown-cuda-version]
CLANGD
  mv "$GRADE_ROOT/.clangd.new" "$GRADE_ROOT/.clangd"
}
