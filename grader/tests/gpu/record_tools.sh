#!/bin/sh
# What compute-sanitizer, cuda-gdb and Nsight Compute say of the unsolved functions of 06/15, recorded on
# this machine's GPU into the folder OUT. The lesson quotes these files.
#   sh grader/tests/gpu/record_tools.sh OUT
set -eu
out=$1
cd "$(dirname "$0")/../../../chapters/06_streams_and_profiling"
exercise=15_three_tools
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
nvcc -arch="sm_$arch" -lineinfo -o "$work/three_tools" $exercise.cu ${exercise}_main.cpp
nvcc -arch="sm_$arch" -g -G -o "$work/three_tools_debug" $exercise.cu ${exercise}_main.cpp

# The thread whose answer is wrong, in the middle of its search.
line=$(grep -n 'const int middle' $exercise.cu | cut -d : -f 1)
cat >"$work/commands" <<EOF
set pagination off
set confirm off
break $exercise.cu:$((line + 1))
run
cuda block 0 thread 1
print keys[k]
print sorted[0]@8
display low
display high
display middle
next
next
next
next
next
next
info cuda kernels
EOF

compute-sanitizer "$work/three_tools" windows >"$out/sanitizer.txt" 2>&1 || true
timeout 60 cuda-gdb -batch -x "$work/commands" --args "$work/three_tools_debug" places >"$out/gdb.txt" 2>&1 || true
ncu --set full --import-source no --clock-control none "$work/three_tools" rows >"$out/ncu.txt" 2>&1 || true
for file in sanitizer gdb ncu; do
  sed -i "s,$work/,./,g; s,$(pwd)/,,g" "$out/$file.txt"
done
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader >"$out/card.txt"
nvcc --version | tail -n 2 >>"$out/card.txt"
