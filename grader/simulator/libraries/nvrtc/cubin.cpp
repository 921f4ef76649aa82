// NVRTC needs no GPU: the toolkit's own compiles here as everywhere. Only what it makes for a real
// architecture cannot run here: machine code. A program that asks for that gets the PTX of the same
// compilation, from which a driver would have made it, and which the simulator executes.
//
// The declarations are those of the public documentation, https://docs.nvidia.com/cuda/nvrtc/: this
// file is also compiled where NVRTC is not installed.
#include <dlfcn.h>

#include <cstddef>

extern "C" {

using nvrtcProgram = struct _nvrtcProgram*;
using nvrtcResult = int;  // an enumeration
constexpr nvrtcResult kSuccess = 0, kInternalError = 11;

}  // extern "C"

namespace {

// The function of that name in NVRTC itself.
template <class Out>
nvrtcResult call_nvrtc(const char* name, nvrtcProgram program, Out* out) {
  auto* const function =
      reinterpret_cast<nvrtcResult (*)(nvrtcProgram, Out*)>(::dlsym(RTLD_NEXT, name));
  return function == nullptr ? kInternalError : function(program, out);
}

}  // namespace

extern "C" {

// 0 for a virtual architecture, of which there is no machine code.
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* size) {
  const nvrtcResult result = call_nvrtc("nvrtcGetCUBINSize", program, size);
  if (result != kSuccess || *size == 0) return result;
  return call_nvrtc("nvrtcGetPTXSize", program, size);
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* code) {
  size_t size = 0;
  const nvrtcResult result = call_nvrtc("nvrtcGetCUBINSize", program, &size);
  if (result != kSuccess || size == 0) return call_nvrtc("nvrtcGetCUBIN", program, code);
  return call_nvrtc("nvrtcGetPTX", program, code);
}

}  // extern "C"
