#!/bin/sh
# Runs the course on the GPU of this machine and writes what it saw as one JSON file.
#
#   sh grader/tests/gpu/run.sh FILE.json
#
# For every exercise: the solution, which must pass, and the starter, which must fail unless the
# exercise is judged by the simulator alone. Both are the objects that the simulator also runs, linked
# with the CUDA runtime. Then the PTX fixtures of the simulator, on the driver as well, and 500 random
# kernels on both; FILE.random.json gets the hashes of their results. Ends with
# "N passed, M failed"; exit status 1 if anything failed.
# COMMIT names the commit where there is no git.
set -u
out=${1:?usage: run.sh FILE.json}
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd)
cd "$root" || exit 2
passed=0
failed=0
rows=''

note() { # ID WHAT EXPECTED STATUS SECONDS
  verdict=ok
  [ "$3" = any ] || [ "$3" = "$4" ] || verdict=unexpected
  if [ "$verdict" = ok ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  printf '%-44s %-8s exit %s %5s s  %s\n' "$1" "$2" "$4" "$5" "$verdict"
  rows="$rows${rows:+,}
    {\"exercise\": \"$1\", \"graded\": \"$2\", \"exit\": $4, \"seconds\": $5, \"as_expected\": $([ "$verdict" = ok ] && echo true || echo false)}"
}

run() { # ID WHAT EXPECTED [OPTION]
  begin=$(date +%s)
  ./grade run "$1" --device gpu ${4:+"$4"} --no-color >"$root/build/gpu_run.log" 2>&1
  status=$?
  note "$1" "$2" "$3" "$status" $(($(date +%s) - begin))
  [ "$verdict" = ok ] || sed 's/^/    | /' "$root/build/gpu_run.log"
}

./grade doctor || failed=$((failed + 1))
ids=$(sed -n 's/^ *"id": "\([0-9][0-9]_[a-z_0-9]*\/[^"]*\)".*/\1/p' chapters/course.json)
for id in $ids; do
  # The value of "judge" that follows this id.
  judge=$(sed -n "\\|\"id\": \"$id\"|,/\"judge\"/s/.*\"judge\": \"\\([a-z]*\\)\".*/\\1/p" chapters/course.json)
  run "$id" solution 0 --solution
  if [ "$judge" = simulator ]; then run "$id" starter any; else run "$id" starter 1; fi
done

# The simulator's instructions against the hardware: the same fixtures on both.
fixtures() { # DEVICE
  build/sim/bin/ptx_run --device "$1" grader/tests/fixtures 2>&1 | tail -n 1
}
./grade exec --ptx grader/tests/fixtures >/dev/null 2>&1  # builds ptx_run
fixtures_sim=$(fixtures sim)
fixtures_gpu=$(fixtures gpu)
echo "PTX fixtures: simulator $fixtures_sim; GPU $fixtures_gpu"
[ "$fixtures_sim" = "$fixtures_gpu" ] || failed=$((failed + 1))

card=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)

# Random kernels on both, every bit; the hashes of what the GPU gave are for machines without one
# (grader/tests/simulator/random/recorded.json).
"${GRADE_CMAKE:-cmake}" --build build/sim --target ptx_random >/dev/null 2>&1
build/sim/bin/ptx_random --against gpu --seed 1 --count 500 --record "${out%.json}.random.json" \
  --machine "$card, driver $driver" >build/gpu_random.log 2>&1 || failed=$((failed + 1))
random=$(tail -n 1 build/gpu_random.log)
echo "Random kernels: $random"
case $random in *' 0 failed') ;; *) sed 's/^/    | /' build/gpu_random.log ;; esac

toolkit=$(nvcc --version | sed -n 's/.*, V\(.*\)/\1/p')
commit=${COMMIT:-$(git rev-parse --short HEAD 2>/dev/null)}
cat >"$out" <<EOF
{
  "format": 1,
  "kind": "gpu-run",
  "date": "$(date -u +%Y-%m-%d)",
  "card": "$card",
  "driver": "$driver",
  "toolkit": "$toolkit",
  "commit": "$commit",
  "passed": $passed,
  "failed": $failed,
  "ptx_fixtures": {"simulator": "$fixtures_sim", "gpu": "$fixtures_gpu"},
  "random_kernels": "$random",
  "runs": [$rows
  ]
}
EOF
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
