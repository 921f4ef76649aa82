# shellcheck shell=sh disable=SC2034,SC2154
# The environment of the Python exercises, with a python3 that only writes down what it is asked.

# fake_python [FAILS]: `-m venv FOLDER` makes FOLDER with the same python3; a command line that holds
# FAILS ends with status 1.
fake_python() {
  cat >"$FAKE_BIN/python3" <<END
#!/bin/sh
echo "python3 \$*" >>"$FAKE/calls"
case "\$*" in *"${1:-no such word}"*) echo 'it went wrong'; exit 1 ;; esac
if [ "\$1 \$2" = '-m venv' ]; then
  mkdir -p "\$3/bin"
  cp "$FAKE_BIN/python3" "\$3/bin/"
fi
END
  chmod +x "$FAKE_BIN/python3"
}

python_env() {
  cp "$repository"/setup/python_env*.txt "$course/setup/"
  put_cmp
  status=0
  env -i PATH="$FAKE_BIN:$basics" sh "$course/setup/python_env.sh" "$@" >"$work/out" 2>"$work/err" ||
    status=$?
}

put_cmp() { [ -e "$FAKE_BIN/cmp" ] || ln -s "$(command -v cmp)" "$FAKE_BIN/cmp"; }

test_makes_it_once() {
  fake_python
  python_env
  expect_status 0
  expect_file "$course/.toolkit/python/bin/python3"
  expect_calls 1 'pip.*python_env.txt'
  python_env
  expect_status 0
  expect_calls 1 'pip.*python_env.txt'
}

test_the_longer_list_stays() {
  fake_python
  python_env --gpu
  expect_status 0
  python_env
  expect_calls 0 'pip.*python_env.txt'
  expect_calls 1 'pip.*python_env_gpu.txt'
}

test_a_failed_installation_leaves_what_was_there() {
  fake_python
  python_env
  echo 'other==1' >>"$course/.toolkit/python/python_env.txt"
  fake_python 'pip'
  python_env
  expect_status 1
  expect_says 'pip could not install setup/python_env.txt' 'Check the network connection'
  expect_file "$course/.toolkit/python/bin/python3"
  expect_no_file "$course/.toolkit/python.new"
}

test_without_venv_it_says_what_to_install() {
  fake_python 'venv'
  python_env
  expect_status 1
  expect_says 'cannot make a virtual environment' 'apt-get install -y python3-venv'
  expect_no_file "$course/.toolkit/python"
}
