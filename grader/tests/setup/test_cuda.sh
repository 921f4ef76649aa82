# shellcheck shell=sh disable=SC2034,SC2154
# Step 2: the compiler that is there, or a whole private one, and never half of one.

test_order_is_environment_path_usual_place() {
  put_toolkit "$work/usr_local/cuda" 13.0.1
  grade list
  expect_out "nvcc=$work/usr_local/cuda/bin/nvcc"
  rm -rf "$course/build"
  put_toolkit "$work/on_path" 13.0.2
  ln -s "$work/on_path/bin/nvcc" "$FAKE_BIN/nvcc"
  grade list
  expect_out "nvcc=$work/on_path/bin/nvcc"
  rm -rf "$course/build"
  put_toolkit "$work/asked_for" 13.0.3
  extra="CUDA_HOME=$work/asked_for"
  grade list
  expect_out "nvcc=$work/asked_for/bin/nvcc"
}

test_old_nvcc_is_reported_and_the_wheels_are_used() {
  put_toolkit "$work/usr_local/cuda" 12.4.131
  extra="CUDACXX=$work/usr_local/cuda/bin/nvcc"
  grade list
  expect_ready
  expect_says "passing over $work/usr_local/cuda/bin/nvcc (from CUDACXX): it is CUDA 12.4.131"
  expect_out "nvcc=$course/.toolkit/cuda/bin/nvcc"
}

test_a_wrong_variable_is_reported() {
  put_toolkit "$work/usr_local/cuda" 13.0.88
  extra='CUDA_HOME=/no/such/cuda'
  grade list
  expect_ready
  expect_says 'passing over /no/such/cuda/bin/nvcc (from CUDA_HOME): there is no such program'
  expect_out "nvcc=$work/usr_local/cuda/bin/nvcc"
}

test_nvcc_without_headers_is_passed_over() {
  put_toolkit "$work/cuda" 13.0.88
  rm -r "$work/cuda/include"
  extra="CUDA_HOME=$work/cuda"
  grade list
  expect_ready
  expect_says 'the headers of CUDA are not installed beside it'
}

test_system_cuda_can_be_ignored() {
  put_toolkit "$work/usr_local/cuda" 13.0.88
  extra='GRADE_IGNORE_SYSTEM_CUDA=1'
  grade list
  expect_ready
  expect_out "cuda_home=$course/.toolkit/cuda"
}

test_private_toolkit_is_whole() {
  grade list
  expect_ready
  cuda=$course/.toolkit/cuda
  expect_file "$cuda/lib64/libcudart.so"
  expect_file "$cuda/licenses/fake-1.dist-info"
  expect_no_file "$course/.toolkit/cache"
  [ ! -h "$cuda/bin/nvcc" ] || broken 'nvcc is a link'
  grep -q "cuda-path=$cuda" "$course/.clangd" || broken '.clangd does not name the toolkit'
}

test_private_toolkit_is_fetched_again_when_removed() {
  grade list
  rm -rf "$course/.toolkit"
  grade list
  expect_ready
  expect_calls 2 '^pip'
}

test_folder_without_mark_is_not_taken_for_whole() {
  put_toolkit "$course/.toolkit/cuda" 13.0.88
  grade list
  expect_ready
  expect_calls 1 '^pip'
}

# pip_fails MODE TEXT...
pip_fails() {
  echo "$1" >"$FAKE/pip"
  shift
  grade list
  expect_stopped_at 2 'CUDA compiler'
  expect_says "$@"
  rm "$FAKE/pip"
  expect_heals
}

test_no_network() {
  pip_fails no_network 'cuda-toolkit[nvcc' 'Temporary failure in name resolution' \
    'Check the network connection' 'build/setup/toolkit.log'
}

test_network_that_inspects_tls() {
  pip_fails untrusted 'CERTIFICATE_VERIFY_FAILED' 'PIP_CERT=/path/to/ca.pem ./grade'
}

test_download_that_breaks_off() {
  pip_fails midway '| ERROR: Connection broken: IncompleteRead' 'Check the network connection'
}

test_disk_that_fills_up() { pip_fails disk_full 'No space left on device' 'Free about 700 MB'; }

test_index_without_the_package() { pip_fails no_package 'PIP_INDEX_URL' 'pip 20.3 or later'; }

test_packages_without_a_compiler() { pip_fails no_compiler 'do not hold a compiler'; }

test_compiler_that_does_not_compile() {
  pip_fails broken 'cicc died due to signal 11' 'The download may be damaged'
}

test_disk_that_is_nearly_full() {
  echo 120 >"$FAKE/free_mb"
  grade list
  expect_stopped_at 2 'CUDA compiler'
  expect_says 'has 120 MB free; the CUDA compiler needs 700'
  expect_calls 0 '^pip'
}

test_ctrl_c_during_the_download() {
  echo interrupted >"$FAKE/pip"
  grade list
  expect_status 130
  expect_says 'set-up interrupted in step 2 of 4, CUDA compiler' 'Nothing unfinished is kept'
  expect_nothing_half_installed
  rm "$FAKE/pip"
  expect_heals
}

test_kill_during_the_download() {
  echo killed >"$FAKE/pip"
  grade list
  expect_status 137
  expect_no_file "$course/.toolkit/cuda"
  rm "$FAKE/pip"
  expect_heals
}

test_no_python() {
  rm "$FAKE_BIN/python3"
  grade list
  expect_stopped_at 2 'CUDA compiler'
  expect_says 'fetching one needs python3 with pip' 'Install Python'
}

test_no_pip_without_root() {
  : >"$FAKE/no_pip"
  put apt-get
  grade list
  expect_stopped_at 2 'CUDA compiler'
  expect_says 'sudo apt-get install -y python3 python3-pip'
}

test_no_pip_with_root() {
  : >"$FAKE/no_pip"
  put apt-get
  echo 0 >"$FAKE/uid"
  grade list
  expect_ready
  expect_calls 1 'install -y .*python3-pip'
}
