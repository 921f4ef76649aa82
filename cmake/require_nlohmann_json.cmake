# nlohmann_json::nlohmann_json from the system, else from the network. Only the grader uses it.
function(warplings_require_nlohmann_json)
  find_package(nlohmann_json 3.9 QUIET)
  if(nlohmann_json_FOUND)
    return()
  endif()
  message(STATUS "nlohmann-json: downloading 3.11.3 (package nlohmann-json3-dev is not installed)")
  include(FetchContent)
  FetchContent_Declare(nlohmann_json
    URL https://github.com/nlohmann/json/releases/download/v3.11.3/json.tar.xz
    URL_HASH SHA256=d6c65aca6b1ed68e7a182f4757257b107ae403032760ed6ef121c9d55e81757d)
  FetchContent_MakeAvailable(nlohmann_json)
endfunction()
