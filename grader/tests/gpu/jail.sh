#!/usr/bin/env bash
# What a jail must let in for a GPU: a program of two kernels in rooms like that of `--jail`
# (grader/cli/process/jail.cpp), each with a little more of /dev. Needs a GPU, nvcc and bubblewrap
# 0.7 (BWRAP names another one). Exit status: 0 some room let the program pass and the smallest did not.
set -u
bwrap=${BWRAP:-bwrap}
folder=$(mktemp -d /var/tmp/warplings_gpu_jail.XXXXXX)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/program.cu" <<'PROGRAM'
#include <cstdio>
__global__ void twice(int* x) { x[threadIdx.x] *= 2; }
int main() {
  int* x = nullptr;
  int host[32];
  for (int i = 0; i < 32; ++i) host[i] = i;
  cudaMalloc(&x, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  twice<<<1, 32>>>(x);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  int* managed = nullptr;
  cudaMallocManaged(&managed, sizeof host);
  if (managed != nullptr) managed[31] = 31;
  twice<<<1, 32>>>(managed);
  cudaDeviceSynchronize();
  const cudaError_t error = cudaGetLastError();
  std::printf("%s\n", cudaGetErrorString(error));
  return error == cudaSuccess && host[31] == 62 && managed[31] == 62 ? 0 : 1;
}
PROGRAM
nvcc -arch=native -o "$folder/program" "$folder/program.cu" || exit 2
"$folder/program" >/dev/null || { echo "no GPU that works, even without a jail"; exit 2; }
ls -l /dev/nvidia* /dev/nvidia-caps 2>/dev/null
ldconfig -p | grep 'libcuda\.so'

room=(--unshare-all --unshare-user --cap-drop ALL --die-with-parent --ro-bind /usr /usr --proc /proc
  --dev /dev --tmpfs /dev/shm --tmpfs /tmp --ro-bind "$folder" "$folder")
for path in /bin /sbin /lib /lib32 /lib64; do
  if [ -L "$path" ]; then room+=(--symlink "$(readlink "$path")" "$path"); else room+=(--ro-bind-try "$path" "$path"); fi
done
for path in /opt /etc/ld.so.cache /etc/ld.so.conf /etc/ld.so.conf.d /etc/alternatives; do
  room+=(--ro-bind-try "$path" "$path")
done
"$bwrap" "${room[@]}" -- true || { echo "bubblewrap makes no jail here"; exit 3; }

tried() {  # NAME OPTION...
  local name=$1 said status
  shift
  said=$(timeout 60 "$bwrap" "${room[@]}" "$@" -- "$folder/program" 2>&1)
  status=$?
  printf '%-44s status %s  %s\n' "$name" "$status" "$said"
  return "$status"
}
cards=()
for node in /dev/nvidia[0-9]* /dev/nvidiactl; do cards+=(--dev-bind "$node" "$node"); done
uvm=(--dev-bind /dev/nvidia-uvm /dev/nvidia-uvm --dev-bind-try /dev/nvidia-uvm-tools /dev/nvidia-uvm-tools)
tried "nothing" && smallest=passed || smallest=failed
passed=no
tried "cards, nvidiactl" "${cards[@]}" && passed=yes
tried "cards, nvidiactl, nvidia-uvm" "${cards[@]}" "${uvm[@]}" && passed=yes
tried "the same, /sys to be read" "${cards[@]}" "${uvm[@]}" --ro-bind /sys /sys && passed=yes
tried "the same, /proc of the machine" "${cards[@]}" "${uvm[@]}" --ro-bind /sys /sys --ro-bind /proc /proc && passed=yes
tried "all of /dev" --dev-bind /dev /dev --ro-bind /sys /sys && passed=yes
[ "$smallest" = failed ] && [ "$passed" = yes ]
