#!/bin/sh
# Links chapters/10_nccl/08_multi_process_main.cpp with MPI and the simulator's NCCL, and starts it
# with three ranks: run.sh SOURCE BUILD FOLDER GRADE -IFOLDER... OBJECT...
# Exit status: 0 each rank has the mean, 1 it has not, 77 there is no MPI here.
set -eu

source=$1 build=$2 folder=$3 grade=$4
shift 4

# Open MPI does not start as root, and no more processes than cores, unless told to.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

for program in mpicxx mpirun; do
  if ! command -v "$program" >/dev/null; then
    echo "Skipped: there is no $program here."
    exit 77
  fi
done
if ! mpirun -n 2 true >/dev/null 2>&1; then
  echo 'Skipped: mpirun starts no processes here.'
  exit 77
fi

mkdir -p "$folder"
mpicxx -std=c++17 "$source/chapters/10_nccl/08_multi_process_main.cpp" "$@" \
  -L"$build/lib" -lnccl -lcudart -o "$folder/multi_process"
expected='rank 0 of 3, device 0: mean 2, expected 2
rank 1 of 3, device 1: mean 2, expected 2
rank 2 of 3, device 2: mean 2, expected 2'
# mpirun gives each rank a terminal, where grade clears the line.
clear=$(printf '\033\\[K')
printed=$(timeout 60 mpirun -n 3 "$grade" exec -- "$folder/multi_process" | tr -d '\r' |
  sed "s/$clear//g" | sort)
if [ "$printed" != "$expected" ]; then
  printf 'The ranks printed:\n%s\n' "$printed"
  exit 1
fi
