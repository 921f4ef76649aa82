// Compiled twice: with our headers and with the vendor's.
#include "header_facts.h"

#include <cublasLt.h>
#include <cublasXt.h>
#include <cublas_v2.h>
#include <cudnn.h>
#include <cufft.h>
#include <curand.h>
#include <cusolverDn.h>
#include <nccl.h>

#include <typeinfo>

std::vector<HeaderFact> WARPLINGS_FACTS() {
  return {
#define VALUE(what) {#what, std::to_string(static_cast<long long>(what))},
#define FUNCTION(what) {#what, typeid(decltype(what)).name()},
#define SIZE(what) {#what, std::to_string(sizeof(what))},
#include "header_facts.def"
  };
}
