# warplings_json_value(OUT JSON KEY DEFAULT): a scalar of an object, DEFAULT if it is absent.
function(warplings_json_value out json key default)
  string(JSON value ERROR_VARIABLE missing GET "${json}" "${key}")
  if(missing)
    set(value "${default}")
  endif()
  set(${out} "${value}" PARENT_SCOPE)
endfunction()
