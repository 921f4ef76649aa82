#!/bin/sh
# The course on aarch64, tried on x86-64: compiled by Debian's cross compiler, run by QEMU's user emulation.
# From a clean clone: sh grader/tests/setup/aarch64.sh [PART...], without parts all of them.
#
#   toolkit    NVIDIA's CUDA 13 for aarch64 into .toolkit/aarch64, and with this machine's nvcc into .toolkit/cross
#   build      the grader, the simulator and its tests, programs of 22 exercises, into build/aarch64
#   simulator  the simulator's tests: parser, a fixture for each opcode, the runtime
#   grader     `grade`: its version, its list, what it says of a wrong command
#   exercises  `grade run` of 22 exercises, two of each chapter but Python's: solutions pass, starters fail
#   nvcc       the compiler of NVIDIA's aarch64 package compiles a kernel, which the simulator runs
#   wheel      the prebuilt grader for aarch64 is packed
#   launcher   `./grade` takes that wheel in a Debian for aarch64 (mmdebstrap makes it, 600 MB in .toolkit/machine)
#
# Nothing of this machine changes: the kernel is told of the emulator (binfmt_misc) in a namespace of the script's
# own, where the folder of the course is a copy that forgets. Exit status 77: something is missing, and said.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd -P)
build=$root/build/aarch64 aarch64=$root/.toolkit/aarch64 cross=$root/.toolkit/cross machine=$root/.toolkit/machine
emulator=qemu-aarch64-static libraries=/usr/aarch64-linux-gnu
exercises='01_hello_indexing/01_hello_threads 01_hello_indexing/08_life 02_vector_add/01_vector_add
  02_vector_add/08_cpu_first 03_memory_model/01_shift_left 03_memory_model/13_trace_a_tile
  04_atomics/01_count_matches 04_atomics/12_hand_over 05_warps/02_warp_reduce 05_warps/13_max_pool_2x2
  06_streams_and_profiling/03_events_order 06_streams_and_profiling/14_three_tools 07_tiled_matmul/01_matmul_cpu
  07_tiled_matmul/20_matmul_int8 08_fft_convolution/01_dft_naive 08_fft_convolution/16_cufft_spectrogram
  09_cuda_libraries/01_cublas_sgemm 09_cuda_libraries/20_fit_twice 10_nccl/01_device_count
  10_nccl/08_multi_process 12_mnist_cnn/02_linear 12_mnist_cnn/18_tensor_autograd'
parts='toolkit build simulator grader exercises nvcc wheel launcher'

say() { printf 'aarch64: %s\n' "$*"; }
skip() {
  echo "skipped: $*"
  exit 77
}
need() {  # PROGRAM PACKAGE
  command -v "$1" >/dev/null || skip "needs $1 (apt-get install $2)"
}

# ---- outside: what is fetched and compiled -----------------------------------------------------------

fetch_toolkit() {
  if [ -x "$aarch64/nvvm/bin/cicc" ] && [ -x "$cross/bin/nvcc" ]; then return; fi
  need nvcc 'a CUDA 13 toolkit, or .toolkit/cuda/bin on PATH'
  fetched=$(mktemp -d)
  python3 -m pip download -q --platform manylinux2014_aarch64 --only-binary=:all: -d "$fetched" \
    'cuda-toolkit[nvcc,nvvm,crt,cudart,cccl,nvtx,profiler]==13.0.2' || skip 'pip cannot fetch NVIDIA’s packages'
  for wheel in "$fetched"/nvidia*.whl; do python3 -m zipfile -e "$wheel" "$fetched/packages"; done
  rm -rf "$aarch64" "$cross"
  mkdir -p "$root/.toolkit"
  mv "$fetched/packages/nvidia/cu13" "$aarch64"
  rm -r "$fetched"
  chmod +x "$aarch64"/bin/* "$aarch64"/nvvm/bin/*
  ln -s lib "$aarch64/lib64"
  ln -s libcudart.so.13 "$aarch64/lib/libcudart.so"
  cp -R "$aarch64" "$cross"
  rm -r "$cross/bin" "$cross/nvvm/bin"
  here=$(dirname -- "$(dirname -- "$(readlink -f -- "$(command -v nvcc)")")")
  cp -R "$here/bin" "$cross/bin"
  cp -R "$here/nvvm/bin" "$cross/nvvm/bin"
}

part_toolkit() {
  fetch_toolkit
  say "toolkit: nvcc $("$cross/bin/nvcc" --version | sed -n 's/.*release.*V//p'), for aarch64 and as cross compiler"
}

part_build() {
  [ -f "$build/build.ninja" ] || (cd "$root" && cmake --preset aarch64) >"$root/build/aarch64.log" 2>&1 || {
    cat "$root/build/aarch64.log"
    exit 1
  }
  programs=''
  for exercise in $exercises; do
    name=$(printf '%s' "$exercise" | tr / .)
    programs="$programs $name $name.solution"
  done
  # shellcheck disable=SC2086
  ninja -C "$build" ptx_run wgmma_fixtures simulator.ptx_tests simulator_runtime_tests grade.ready grade.first \
    grade.more warplings.cudart $programs
  say "build: $(find "$build/bin" "$build/course" -maxdepth 1 -type f -perm -u+x | wc -l) programs for aarch64"
}

part_wheel() {
  rm -rf "$build/wheel"
  said=$(python3 -B "$root/setup/wheel.py" make --build "$build" --out "$build/wheel")
  case $said in
    *_aarch64.whl*) say "wheel: $(basename "$build"/wheel/*.whl), $(printf '%s' "$said" | sed -n 's/.*  //p')" ;;
    *)
      printf '%s\n' "$said"
      exit 1
      ;;
  esac
}

# A Debian for aarch64 as its packages unpack it, with what set-up asks for.
make_machine() {
  [ ! -x "$machine/usr/bin/g++-12" ] || return 0
  need mmdebstrap mmdebstrap
  sources=$(find /etc/apt/sources.list /etc/apt/sources.list.d -type f \( -name '*.list' -o -name 'debian.sources' \) \
    -size +0 | head -n 1)
  rm -rf "$machine"
  mmdebstrap --quiet --variant=extract --architectures=arm64 --include=dash,bash,coreutils,sed,grep,mawk,findutils \
    --include=util-linux,g++-12,g++,cmake,ninja-build,python3,libgtest-dev,nlohmann-json3-dev,zlib1g-dev,perl-base \
    bookworm "$machine" "$sources" || skip 'mmdebstrap cannot make a Debian for aarch64'
  ln -s mawk "$machine/usr/bin/awk"  # what installing, not unpacking, would have done
}

# ---- within a namespace that knows the emulator ------------------------------------------------------

tell_the_kernel() {
  mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
  # As Debian's qemu-user-static does: the header of an aarch64 program, and F to open the emulator now.
  printf '%s' ':warplings:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:'\
'\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:'"$(command -v $emulator):F" \
    >/proc/sys/fs/binfmt_misc/register
}

# What is written below the course is gone afterwards; build/sim is the folder of aarch64 there.
forgetful_copy() {
  scratch=$(mktemp -d)
  mount -t tmpfs none "$scratch"
  mkdir "$scratch/upper" "$scratch/work"
  mount -t overlay none -o "lowerdir=$root,upperdir=$scratch/upper,workdir=$scratch/work" "$root"
  cd "$root"
  mkdir -p build/sim
  mount --bind build/aarch64 build/sim
}

grade() {
  # Emulated programs are some ten times slower.
  GRADE_TIME_LIMIT=200 GRADE_ROOT=$root GRADE_NINJA=$(command -v ninja) GRADE_CUDA_HOME=$cross "$root/build/sim/bin/grade" "$@"
}

failed() {
  say "FAILED: $*"
  exit 1
}

# The last lines of GoogleTest: "[  PASSED  ] 189 tests."
part_simulator() {
  for program in simulator.ptx_tests simulator_runtime_tests; do
    # QEMU 7.2 does not give the pages of shared memory back when it is asked to.
    "build/sim/bin/$program" --gtest_filter=-DeviceMemory.ForgetsBytesOfFreedMemory >"$scratch/said" 2>&1 || {
      grep -v '^\[       OK\|^\[ RUN' "$scratch/said" | tail -n 40
      failed "$program"
    }
    say "simulator: $program, $(sed -n 's/^\[  PASSED  \] //p' "$scratch/said")"
  done
  build/sim/bin/ptx_run --coverage grader/tests/fixtures build/sim/wgmma_fixtures >"$scratch/said" 2>&1 || {
    tail -n 20 "$scratch/said"
    failed ptx_run
  }
  say "simulator: ptx_run, $(tail -n 1 "$scratch/said")"
}

part_grader() {
  version=$(grade --version)
  [ -n "$version" ] || failed 'grade --version'
  count=$(grade list | grep -c '[0-9][0-9]_') || failed 'grade list'
  status=0
  grade nonsense >/dev/null 2>&1 || status=$?
  [ $status -eq 2 ] || failed "grade nonsense ended with $status, not 2"
  say "grader: $version, $count lines of exercises, a wrong command ends with 2"
}

part_exercises() {
  passed=0 refused=0
  for exercise in $exercises; do
    git checkout -q HEAD -- "chapters/$exercise.cu" 2>/dev/null || failed "git has no chapters/$exercise.cu"
    status=0
    grade run "$exercise" --solution --device sim >"$scratch/said" 2>&1 || status=$?
    if [ $status -ne 0 ]; then
      cat "$scratch/said"
      failed "$exercise: its solution ended with $status"
    fi
    passed=$((passed + 1))
    grade run "$exercise" --device sim >"$scratch/said" 2>&1 || status=$?
    if [ $status -ne 1 ]; then
      cat "$scratch/said"
      failed "$exercise: its starter ended with $status, not with FAIL"
    fi
    refused=$((refused + 1))
  done
  say "exercises: $passed solutions pass, $refused starters fail"
}

# nvcc's parts start each other, and Debian's cross compiler of this machine serves as its host compiler.
part_nvcc() {
  printf '%s\n' '#include <cstdio>' '__global__ void twice(int* x) { x[threadIdx.x] *= 2; }' 'int main() {' \
    '  int* x = nullptr; int y[32] = {}; y[31] = 21;' '  cudaMalloc(&x, sizeof y);' \
    '  cudaMemcpy(x, y, sizeof y, cudaMemcpyHostToDevice); twice<<<1, 32>>>(x);' \
    '  cudaMemcpy(y, x, sizeof y, cudaMemcpyDeviceToHost); std::printf("%d\n", y[31]); }' >"$scratch/twice.cu"
  "$aarch64/bin/nvcc" -ccbin aarch64-linux-gnu-g++-12 -arch=compute_80 --no-compress -cudart shared \
    -o "$scratch/twice" "$scratch/twice.cu"
  simulated=$(find build/sim -name 'libcudart.so.13' | head -n 1)
  [ -n "$simulated" ] || failed 'no simulated libcudart.so.13'
  answer=$(LD_LIBRARY_PATH=$root/$(dirname "$simulated") "$scratch/twice")
  [ "$answer" = 42 ] || failed "a program of aarch64's nvcc printed $answer, not 42"
  say "nvcc: $("$aarch64/bin/nvcc" --version | sed -n 's/.*release.*V/of aarch64, /p') compiled a program that the simulator ran"
}

part_launcher() {
  course=$machine/course
  rm -rf "$course"
  mkdir -p "$course/.toolkit" "$machine/dev" "$machine/proc" "$machine/tmp"
  git ls-files -z | tar --null -T - -c | tar -x -C "$course"
  cp -R "$aarch64" "$course/.toolkit/cuda"
  echo '13.0.2 nvcc,nvvm,crt,cudart,cccl,nvtx,profiler' >"$course/.toolkit/cuda/.warplings_complete"
  cp build/aarch64/wheel/*.whl "$course/.toolkit/"
  mount --rbind /dev "$machine/dev"
  mount --rbind /proc "$machine/proc"
  mount -t tmpfs none "$machine/tmp"
  for exercise in 01/01 02/01; do
    status=0
    env -i HOME=/tmp PATH=/usr/sbin:/usr/bin:/sbin:/bin GRADE_NO_APT=1 LC_ALL=C.UTF-8 chroot "$machine" /bin/sh -c \
      "cd /course && ./grade run $exercise --solution" >"$scratch/said" 2>"$scratch/progress" || status=$?
    if [ $status -ne 0 ] || ! grep -q PASS "$scratch/said"; then
      cat "$scratch/said" "$scratch/progress"
      failed "./grade run $exercise ended with $status"
    fi
    taken=$(sed -n 's/.*prebuilt grader: //p' "$scratch/progress")
    if [ "$exercise" = 01/01 ]; then
      case $taken in
        taken*) say "launcher: in Debian for $(chroot "$machine" /bin/uname -m): $taken" ;;
        *) failed "the launcher took no wheel: $taken" ;;
      esac
    fi
    say "launcher: $(grep -m 1 PASS "$scratch/said")"
  done
}

# ---- which parts, where ------------------------------------------------------------------------------

inside=no
if [ "${1-}" = --inside ]; then
  inside=yes
  shift
fi
[ $# -gt 0 ] || eval "set -- $parts"

if [ $inside = yes ]; then
  export QEMU_LD_PREFIX=$libraries
  tell_the_kernel
  forgetful_copy
  for part; do "part_$part"; done
  exit 0
fi

for part; do
  case " $parts " in *" $part "*) ;; *)
    echo "aarch64: no part is called $part: $parts" >&2
    exit 2
    ;;
  esac
done
[ "$(uname -m)" = x86_64 ] || skip "for x86-64; on $(uname -m) ./grade and its self-test do all of this themselves"
for program in "aarch64-linux-gnu-g++-12 g++-12-aarch64-linux-gnu" "$emulator qemu-user-static" 'cmake cmake' \
  'ninja ninja-build' 'python3 python3' 'git git' 'unshare util-linux'; do
  # shellcheck disable=SC2086
  need $program
done
unshare --user --map-root-user --mount sh -c 'mount -t binfmt_misc none /proc/sys/fs/binfmt_misc' 2>/dev/null ||
  skip 'this kernel lets no user namespace have emulators of its own (Linux 6.7 and binfmt_misc)'
mkdir -p "$root/build"
for part; do
  case $part in
    toolkit | build | wheel) "part_$part" ;;
    *)
      [ "$part" != launcher ] || make_machine
      unshare --user --map-root-user --mount sh "$0" --inside "$part"
      ;;
  esac
done
say 'done'
