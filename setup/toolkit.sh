# shellcheck shell=sh disable=SC2034,SC2154
# A private CUDA compiler in .toolkit/cuda, from NVIDIA's wheels on PyPI, without root.

# nvcc's own dependencies are not pinned; this package pins a set that fits together.
toolkit_version=13.0.2
toolkit_parts='nvcc,nvvm,crt,cudart,cccl,nvtx,profiler'
toolkit_peak_mb=700  # on disk while it is unpacked

# The mark is written before the folder gets its name: a folder without it is nobody's.
toolkit_is_whole() {
  [ "$(cat "$toolkit_dir/cuda/.warplings_complete" 2>/dev/null)" = "$toolkit_version $toolkit_parts" ]
}

fetch_toolkit() {
  provide_pip || no_pip 'no CUDA 13 compiler was found, and fetching one needs python3 with pip'
  require_disk_space
  progress "fetching CUDA $toolkit_version into .toolkit/cuda (105 MB, 270 unpacked)"
  make_temp_dir
  pip_install toolkit "cuda-toolkit[$toolkit_parts]==$toolkit_version" ||
    pip_failed "$toolkit_peak_mb"
  download_seconds=$command_seconds
  assemble_toolkit
  try_toolkit
  rm -rf "$toolkit_dir/cuda"
  mv "$temp_dir/cuda" "$toolkit_dir/cuda" || fail "cannot write $toolkit_dir" 'Free disk space.'
  rm -rf "$toolkit_dir/cache"
  clean_up
  progress "fetched in $download_seconds s; to remove it: rm -rf .toolkit"
}

require_disk_space() {
  free_mb=$(df -Pm "$GRADE_ROOT" 2>/dev/null | awk 'NR == 2 { print $4 }')
  if [ "${free_mb:-$toolkit_peak_mb}" -lt "$toolkit_peak_mb" ]; then
    fail "the disk that holds $GRADE_ROOT has $free_mb MB free; the CUDA compiler needs $toolkit_peak_mb" \
      "Free that much there, or clone the course to another disk."
  fi
}

# The wheels lack what a linker looks for: lib64 and the unversioned name of the runtime. The tree is
# ours alone, so they are added in place; nvcc stays a real file, as a link would lose its parts.
assemble_toolkit() {
  root=$temp_dir/packages/nvidia/cu13
  if ! [ -x "$root/bin/nvcc" ] || ! [ -x "$root/nvvm/bin/cicc" ]; then
    fail "the packages of CUDA $toolkit_version do not hold a compiler" \
      'Check which index pip uses (PIP_INDEX_URL, pip config list); it must serve the originals.'
  fi
  if ! finish_tree "$root" || ! mv "$root" "$temp_dir/cuda"; then
    fail "cannot write $temp_dir" "Free about $toolkit_peak_mb MB on that disk."
  fi
}

finish_tree() {
  ln -sfn lib "$1/lib64" || return 1
  ln -sfn libcudart.so.13 "$1/lib/libcudart.so" || return 1
  mkdir -p "$1/licenses" || return 1
  cp -R "$temp_dir"/packages/*.dist-info "$1/licenses/" || return 1
  printf '%s\n' "$toolkit_version $toolkit_parts" >"$1/.warplings_complete"
}

# A compiler that cannot compile three lines must not become the course's.
try_toolkit() {
  printf '__global__ void probe(int* p) { *p = 1; }\nint main() { probe<<<1, 1>>>(nullptr); }\n' \
    >"$temp_dir/probe.cu"
  if ! run_logged nvcc "$temp_dir/cuda/bin/nvcc" -ccbin "$grade_cxx" -o "$temp_dir/probe" \
    "$temp_dir/probe.cu"; then
    fail_command 'The download may be damaged, or this system too old for CUDA 13 (glibc 2.28).' \
      "rm -rf '$toolkit_dir'"
  fi
}
