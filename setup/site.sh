#!/bin/sh
# Builds the site from the pages of the repository into build/site: ./grade dev site.
#   site.sh --prepare   only installs Sphinx and what it needs (docs/site/requirements.txt, about
#                       60 MB) into .toolkit/site
#   site.sh --test      builds without a network; exit status 77 where Sphinx is not installed
#   site.sh [--browser NAME]
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
needed=$root/docs/site/requirements.txt
venv=$root/.toolkit/site
log=$root/build/setup/site.log
mkdir -p "$root/build/setup" "$root/.toolkit"

# fail WHAT DO...
fail() {
  printf '%s\n' "$1" >&2
  shift
  printf '  do   %s\n' "$@" >&2
  exit 1
}

if ! cmp -s "$needed" "$venv/requirements.txt"; then
  if [ "${1-}" = --test ]; then
    echo "Sphinx is not installed: sh setup/site.sh --prepare"
    exit 77
  fi
  echo "Sphinx: installing with pip into .toolkit/site" >&2
  rm -rf "$venv"
  if ! python3 -m venv "$venv" >"$log" 2>&1; then
    tail -n 5 "$log" >&2
    rm -rf "$venv"
    fail "Python cannot make a virtual environment here." \
      "apt-get install -y python3-venv, or Python 3.11 or later with venv and pip"
  fi
  if ! "$venv/bin/python3" -m pip --disable-pip-version-check --no-input install -r "$needed" \
    >"$log" 2>&1; then
    tail -n 5 "$log" >&2
    rm -rf "$venv"
    fail "pip could not install docs/site/requirements.txt (build/setup/site.log)." \
      "Check the network connection; behind a proxy set https_proxy, with a mirror PIP_INDEX_URL."
  fi
  cp "$needed" "$venv/requirements.txt"
fi

case ${1-} in
  --prepare) exit 0 ;;
  --test) shift ;;
esac

rm -rf "$root/build/site"
"$venv/bin/python3" -m sphinx -q -W --keep-going -d "$root/build/setup/site" \
  -c "$root/docs/site" "$root" "$root/build/site" ||
  fail "Sphinx warned." "Correct the pages that it names."
python3 "$root/docs/site/check.py" "$root/build/site" "$@"
echo "The site is built: build/site/index.html"
