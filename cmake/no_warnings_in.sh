#!/bin/sh
# no_warnings_in.sh PART COMMAND...: runs a compiler; what it warns of in a file whose path holds PART is an
# error.
part=$1
shift
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
"$@" 2>"$log"
status=$?
where="^[^(:]*${part}[^(:]*[(:].*warning"
if grep -q "$where" "$log"; then
  status=1
  sed -i "\\,$where,s/warning/error/" "$log"
  for argument; do  # nobody takes the object for a good one
    if [ "${before-}" = -o ]; then rm -f "$argument"; fi
    before=$argument
  done
fi
cat "$log" >&2
exit $status
