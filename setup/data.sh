#!/bin/sh
# Images to train on, for chapter 12, in .data/ of the clone.
#   sh setup/data.sh                Fashion-MNIST (31 MB, MIT licence), from Debian's or Ubuntu's
#                                   package; unpacked here, nothing is installed
#   sh setup/data.sh mnist FOLDER   MNIST, from the four IDX files that you have in FOLDER
# Exit status: 0 the files are there and are what they should be, 1 they are not.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
package=dataset-fashion-mnist
files='train-images-idx3-ubyte train-labels-idx1-ubyte t10k-images-idx3-ubyte t10k-labels-idx1-ubyte'

# fail WHAT DO...
fail() {
  printf '%s\n' "$1" >&2
  shift
  printf '  do   %s\n' "$@" >&2
  exit 1
}

# The decompressed file, whether it is a .gz or not.
content() {
  case $1 in
    *.gz) gzip -dc "$1" ;;
    *) cat "$1" ;;
  esac
}

# find_file FOLDER NAME: the path of NAME there, in one of the spellings that are about.
find_file() {
  dotted=$(printf '%s' "$2" | sed 's/-idx/.idx/')
  for found in "$1/$2.gz" "$1/$2" "$1/$dotted.gz" "$1/$dotted"; do
    if [ -f "$found" ]; then
      printf '%s' "$found"
      return 0
    fi
  done
  return 1
}

# check_file PATH NAME SUM: SUM is empty, or the SHA-256 of the decompressed file.
check_file() {
  case $2 in
    train-images*) size=47040016 ;;
    train-labels*) size=60008 ;;
    t10k-images*) size=7840016 ;;
    *) size=10008 ;;
  esac
  found_size=$(content "$1" 2>/dev/null | wc -c | tr -d ' ')
  [ "$found_size" = "$size" ] ||
    fail "$1 has $found_size bytes, decompressed; $2 has $size." "Get the file again."
  if [ -n "$3" ]; then
    found_sum=$(content "$1" | sha256sum | cut -d ' ' -f 1)
    [ "$found_sum" = "$3" ] ||
      fail "$1 is not the $2 of Fashion-MNIST: SHA-256 $found_sum." "Get the package again."
  fi
}

# SHA-256 of the decompressed files of Fashion-MNIST.
sum_of() {
  case $1 in
    train-images*) echo c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888 ;;
    train-labels*) echo bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9 ;;
    t10k-images*) echo 5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b ;;
    *) echo 0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34 ;;
  esac
}

# collect FOLDER NAME CHECKSUMS: the four files of FOLDER into .data/NAME, all or none.
collect() {
  target=$root/.data/$2
  rm -rf "$target.new"
  mkdir -p "$target.new"
  for name in $files; do
    path=$(find_file "$1" "$name") || fail "$1 has no $name, plain or .gz." \
      "Put the four IDX files into one folder: $files"
    sum=''
    if [ "$3" = checked ]; then sum=$(sum_of "$name"); fi
    check_file "$path" "$name" "$sum"
    case $path in
      *.gz) cp "$path" "$target.new/$name.gz" ;;
      *) cp "$path" "$target.new/$name" ;;
    esac
  done
  rm -rf "$target"
  mv "$target.new" "$target"
  echo "$2 is there: .data/$2"
}

fetch_package() {
  if ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then
    fail "apt-get and dpkg are not here, so the package $package cannot be fetched." \
      "Fetch it elsewhere, or use your own files: sh setup/data.sh mnist FOLDER" \
      "Without real images 12/12 trains on digits that the course draws."
  fi
  log=$work/log
  echo "Fetching Debian's package $package (31 MB) ..."
  (cd "$work" && apt-get download "$package") >"$log" 2>&1 || {
    tail -n 3 "$log" >&2
    fail "apt-get could not download $package." \
      "apt-get update, as root; check the network; then sh setup/data.sh again"
  }
  dpkg -x "$work/$package"_*.deb "$work/files"
  images=$(find "$work/files" -name 'train-images-idx3-ubyte*' | head -n 1)
  [ -n "$images" ] || fail "The package $package holds no images." "Report it, please."
  collect "$(dirname "$images")" fashion-mnist checked
}

work=$(mktemp -d)
trap 'rm -rf "$work" "$root"/.data/*.new' EXIT
trap 'exit 1' INT TERM HUP
case ${1:-fashion-mnist} in
  fashion-mnist)
    if [ -d "$root/.data/fashion-mnist" ]; then
      echo "fashion-mnist is there: .data/fashion-mnist"
    else
      fetch_package
    fi
    ;;
  mnist)
    [ -d "${2-}" ] || fail "Which folder has the files of MNIST?" "sh setup/data.sh mnist FOLDER"
    collect "$2" mnist unchecked
    ;;
  *) fail "$1: there is fashion-mnist and mnist." "sh setup/data.sh, or sh setup/data.sh mnist FOLDER" ;;
esac
