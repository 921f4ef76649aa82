#!/bin/sh
# Makes the Python environment of chapter 11 in .toolkit/python, with pinned modules:
#   sh setup/python_env.sh         numpy, numba, pytest            (about 280 MB)
#   sh setup/python_env.sh --gpu   PyTorch and Triton as well      (about 6 GB)
# ./grade uses it from then on. GRADE_PYTHON names another interpreter instead.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
list=python_env.txt
case ${1-} in
  '') ;;
  --gpu) list=python_env_gpu.txt ;;
  *)
    sed -n '2,5s/^# //p' "$0" >&2
    exit 2
    ;;
esac
venv=$root/.toolkit/python
log=$root/build/setup/python_env.log
mkdir -p "$root/build/setup" "$root/.toolkit"

# fail WHAT DO
fail() {
  tail -n 5 "$log" >&2
  rm -rf "$new"
  printf '%s\n  do   %s\n' "$1" "$2" >&2
  exit 1
}

# The longer list holds the shorter one.
for whole in "$list" python_env_gpu.txt; do
  if cmp -s "$root/setup/$whole" "$venv/$whole"; then
    echo ".toolkit/python has all of setup/$list"
    exit 0
  fi
done
echo "Python modules: installing setup/$list with pip into .toolkit/python"
# Made beside it, so that an interrupted installation leaves what was there.
new=$root/.toolkit/python.new
rm -rf "$new"
python3 -m venv "$new" >"$log" 2>&1 ||
  fail "python3 cannot make a virtual environment here." \
    "apt-get install -y python3-venv, or Python 3.11 or later with venv and pip"
"$new/bin/python3" -m pip --disable-pip-version-check --no-input install \
  --progress-bar off -r "$root/setup/$list" >>"$log" 2>&1 ||
  fail "pip could not install setup/$list (build/setup/python_env.log)." \
    "Check the network connection; behind a proxy set https_proxy, with a mirror PIP_INDEX_URL."
cp "$root/setup/$list" "$new/"
rm -rf "$venv"
mv "$new" "$venv"
echo "done; ./grade uses .toolkit/python from now on"
