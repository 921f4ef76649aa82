#!/bin/sh
# What compute-sanitizer, cuda-gdb and Nsight Compute say of the unsolved functions of 06/14, recorded on
# this machine's GPU into the folder OUT. The lesson quotes these files.
#   sh grader/tests/gpu/record_tools.sh assets/reports
# Those in git: an H200, driver 580.159.04, CUDA 13.0.88, 2026-11-23, when the exercise was number 15;
# of Nsight Compute's sections and advice the lines that the lesson speaks of.
set -eu
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/../../../chapters/06_streams_and_profiling"
exercise=14_three_tools
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
EOF

# What says nothing about the kernels is left out: threads of the host, addresses, other sections.
compute-sanitizer "$work/three_tools" windows 2>&1 |
  sed -n "1,6p;/ERROR SUMMARY/p" >"$out/three_tools_sanitizer.txt"
timeout 60 cuda-gdb -batch -x "$work/commands" --args "$work/three_tools_debug" places 2>&1 |
  grep -vE '^\[(Thread debugging|New Thread|Detaching)|Using host lib|^Breakpoint 1 at' |
  sed -E 's/\(sorted=0x.*, m=64\)/(...)/' >"$out/three_tools_gdb.txt"
ncu --section SpeedOfLight --section MemoryWorkloadAnalysis_Tables --section SourceCounters --clock-control none \
  "$work/three_tools" rows 2>&1 | sed -n '/^ *scale_rows/,$p' | sed 's/ *$//' >"$out/three_tools_ncu.txt"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
nvcc --version | tail -n 1
