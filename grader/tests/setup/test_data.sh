# shellcheck shell=sh disable=SC2016,SC2034,SC2154
# setup/data.sh: files that are refused, and what stays when they are.

data() {
  chmod +x "$course/setup/data.sh"
  launcher=$course/setup/data.sh
  grade "$@"
}

# put_images NAME BYTES: a file of that many zeros, compressed.
put_images() { head -c "$2" /dev/zero | gzip -1 >"$work/own/$1.gz"; }

put_mnist() {
  mkdir -p "$work/own"
  put_images train-images-idx3-ubyte 47040016
  put_images train-labels-idx1-ubyte 60008
  put_images t10k-images-idx3-ubyte 7840016
  put_images t10k-labels.idx1-ubyte 10008  # the other spelling
}

test_own_files_are_taken() {
  put_mnist
  data mnist "$work/own"
  expect_status 0
  expect_out 'mnist is there: .data/mnist'
  expect_file "$course/.data/mnist/t10k-labels-idx1-ubyte.gz"
}

test_a_file_of_another_size_is_refused_and_the_old_ones_stay() {
  put_mnist
  data mnist "$work/own"
  put_images train-labels-idx1-ubyte 60007
  data mnist "$work/own"
  expect_status 1
  expect_says 'has 60007 bytes, decompressed; train-labels-idx1-ubyte has 60008'
  expect_file "$course/.data/mnist/train-labels-idx1-ubyte.gz"
  expect_no_file "$course/.data/mnist.new"
}

test_a_missing_file_is_named() {
  put_mnist
  rm "$work/own/t10k-images-idx3-ubyte.gz"
  data mnist "$work/own"
  expect_status 1
  expect_says 'has no t10k-images-idx3-ubyte'
  expect_no_file "$course/.data/mnist"
}

test_without_a_package_manager_there_is_a_way_out() {
  data
  expect_status 1
  expect_says 'apt-get and dpkg are not here' 'sh setup/data.sh mnist FOLDER'
}

test_a_download_that_fails_is_told() {
  put apt-get
  printf '#!/bin/sh\necho "E: no network" >&2\nexit 100\n' >"$FAKE_BIN/apt-get"
  cp "$FAKE_BIN/apt-get" "$FAKE_BIN/dpkg"
  data
  expect_status 1
  expect_says 'E: no network' 'could not download'
}

# Right in size, wrong in content: zeros are not Fashion-MNIST.
test_a_package_with_other_images_is_refused() {
  put_mnist
  put apt-get
  printf '#!/bin/sh\n: >dataset-fashion-mnist_1.deb\n' >"$FAKE_BIN/apt-get"
  printf '#!/bin/sh\nmkdir "$3" && cp "%s"/* "$3/"\n' "$work/own" >"$FAKE_BIN/dpkg"
  chmod +x "$FAKE_BIN/dpkg"
  data
  expect_status 1
  expect_says 'is not the train-images-idx3-ubyte of Fashion-MNIST'
  expect_no_file "$course/.data/fashion-mnist"
}
