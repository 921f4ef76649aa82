#!/bin/sh
# setup/Dockerfile without Docker, by hand: buildah makes the image of it, from a Debian that mmdebstrap makes of
# packages, so that no registry of images is asked. From a clean clone, as root: sh grader/tests/setup/container.sh
# Needs buildah and mmdebstrap, and the network that set-up needs. Exit status 77: something is missing, and said.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd -P)
for program in buildah mmdebstrap git; do
  command -v "$program" >/dev/null || { echo "skipped: needs $program"; exit 77; }
done
scratch=$(mktemp -d)
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
buildah() { command buildah --root "$scratch/storage" --runroot "$scratch/run" "$@"; }
working=''
clean() {
  [ -z "$working" ] || buildah rm "$working" >/dev/null 2>&1 || true
  rm -rf "$scratch"
}
trap clean EXIT

say() { printf 'container: %s\n' "$*"; }
failed() {
  say "FAILED: $*"
  exit 1
}

sources=$(find /etc/apt/sources.list /etc/apt/sources.list.d -type f \( -name '*.list' -o -name 'debian.sources' \) \
  -size +0 | head -n 1)
mmdebstrap --quiet --variant=apt bookworm "$scratch/debian.tar" "$sources"
base=$(buildah from scratch)
buildah add -q "$base" "$scratch/debian.tar" / >/dev/null
# Where this machine's pip and apt look, the container's look as well.
for file in /etc/pip.conf /etc/apt/apt.conf.d/*proxy*; do
  [ ! -f "$file" ] || buildah copy -q "$base" "$file" "$file" >/dev/null
done
if [ -n "${PIP_CERT:-}" ]; then
  buildah copy -q "$base" "$PIP_CERT" /etc/machine-ca.pem >/dev/null
  buildah config --env PIP_CERT=/etc/machine-ca.pem "$base"
fi
buildah commit -q "$base" warplings-base >/dev/null
buildah rm "$base" >/dev/null
say "base: a Debian of $(du -m "$scratch/debian.tar" | cut -f1) MB"

git clone -q "$root" "$scratch/course"
(cd "$scratch/course" && buildah build -q --build-arg BASE=localhost/warplings-base \
  --ignorefile setup/Dockerfile.dockerignore -f setup/Dockerfile -t warplings .) >"$scratch/said" 2>&1 || {
  tail -n 40 "$scratch/said"
  failed 'the image is not built'
}
say 'built'

working=$(buildah from warplings)
inside() { buildah run "$working" -- sh -c "$1" >"$scratch/said" 2>&1; }
inside 'test "$(id -un)" = learner && test -w chapters' || failed "not the learner's: $(cat "$scratch/said")"
inside './grade run 01/01 --solution' || { cat "$scratch/said"; failed 'the solution of 01/01'; }
grep -q PASS "$scratch/said" || failed "no verdict: $(cat "$scratch/said")"
say "01/01: $(grep -m 1 PASS "$scratch/said")"
status=0
inside ./grade || status=$?
[ $status -eq 1 ] && grep -q FAIL "$scratch/said" || { cat "$scratch/said"; failed "./grade ended with $status, not with FAIL"; }
if grep -q 'Tools:\|building' "$scratch/said"; then failed "set-up began again: $(cat "$scratch/said")"; fi
say 'an unsolved exercise: FAIL, and nothing is set up again'
say 'done'
