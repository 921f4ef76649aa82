// cuFFT's functions.
#include <cufft.h>

#include <cmath>
#include <map>
#include <memory>
#include <mutex>

#include "cufft/plan.h"

using namespace warplings::libraries;

namespace {

// Every plan that exists, by its handle.
class Plans {
 public:
  static Plans& instance() {
    static auto* const plans = new Plans();
    return *plans;
  }
  cufftHandle add() {
    const std::lock_guard lock(mutex_);
    plans_[++last_] = std::make_shared<FftPlan>();
    plans_[last_]->device = current_device();
    return last_;
  }
  std::shared_ptr<FftPlan> find(cufftHandle handle) {
    const std::lock_guard lock(mutex_);
    const auto at = plans_.find(handle);
    return at == plans_.end() ? nullptr : at->second;
  }
  bool remove(cufftHandle handle) {
    const std::lock_guard lock(mutex_);
    const auto at = plans_.find(handle);
    if (at == plans_.end()) return false;
    wsim_library_gone(at->second.get());
    plans_.erase(at);
    return true;
  }

 private:
  std::mutex mutex_;
  std::map<cufftHandle, std::shared_ptr<FftPlan>> plans_;
  cufftHandle last_ = 0;
};

bool is_type(cufftType type) {
  switch (type) {
    case CUFFT_C2C:
    case CUFFT_R2C:
    case CUFFT_C2R:
    case CUFFT_Z2Z:
    case CUFFT_D2Z:
    case CUFFT_Z2D:
      return true;
  }
  return false;
}

// What cufftPlanMany is asked for; null pointers and zeros where packed data needs nothing.
struct Request {
  int rank = 1;
  const int* n = nullptr;
  const int *inembed = nullptr, *onembed = nullptr;
  int istride = 1, idist = 0, ostride = 1, odist = 0;
  cufftType type = CUFFT_C2C;
  int batch = 1;
};

FftLayout layout_of(int rank, const int* embed, int stride, int distance) {
  FftLayout layout;
  for (int i = 0; i < rank; ++i) layout.embed[static_cast<size_t>(3 - rank + i)] = embed[i];
  layout.stride = stride;
  layout.distance = distance;
  return layout;
}

// Lines of these lengths are transformed in the work area, all others where they lie.
size_t work_size_of(const FftPlan& plan) {
  const bool one_pass = plan.n[0] == 1 && plan.n[1] == 1 && plan.n[2] <= 4096;
  if (one_pass) return 0;
  return static_cast<size_t>(plan.batch * plan.n[0] * plan.n[1] * plan.n[2]) * 2 * plan.real_size();
}

cufftResult make(cufftHandle handle, const Request& request, size_t* work_size) {
  wsim_library_count("cufftMakePlan");
  const std::shared_ptr<FftPlan> plan = Plans::instance().find(handle);
  if (plan == nullptr || plan->made) return CUFFT_INVALID_PLAN;
  if (request.rank < 1 || request.rank > 3 || request.n == nullptr || work_size == nullptr) {
    return CUFFT_INVALID_VALUE;
  }
  if (!is_type(request.type)) return CUFFT_INVALID_TYPE;
  if (request.batch < 1) return CUFFT_INVALID_SIZE;
  for (int i = 0; i < request.rank; ++i) {
    if (request.n[i] < 1) return CUFFT_INVALID_SIZE;
    plan->n[static_cast<size_t>(3 - request.rank + i)] = request.n[i];
  }
  plan->type = request.type;
  plan->batch = request.batch;
  plan->packed = request.inembed == nullptr;
  if (plan->packed != (request.onembed == nullptr)) return CUFFT_INVALID_VALUE;
  if (!plan->packed) {
    plan->in = layout_of(request.rank, request.inembed, request.istride, request.idist);
    plan->out = layout_of(request.rank, request.onembed, request.ostride, request.odist);
    if (request.istride < 1 || request.ostride < 1) return CUFFT_INVALID_VALUE;
  }
  plan->work_size = work_size_of(*plan);
  plan->made = true;
  *work_size = plan->work_size;
  return CUFFT_SUCCESS;
}

// cufftCreate and cufftMakePlan in one; nothing is left behind if it fails.
cufftResult create(cufftHandle* handle, const Request& request) {
  if (handle == nullptr) return CUFFT_INVALID_VALUE;
  const cufftHandle made = Plans::instance().add();
  size_t work_size = 0;
  const cufftResult result = make(made, request, &work_size);
  if (result == CUFFT_SUCCESS) {
    *handle = made;
  } else {
    Plans::instance().remove(made);
  }
  return result;
}

Request request_of(int rank, const int* n, cufftType type, int batch) {
  Request request;
  request.rank = rank;
  request.n = n;
  request.type = type;
  request.batch = batch;
  return request;
}

// `columns` elements of each row of each transform.
void add_operand(const FftPlan& plan, const FftLayout& layout, int64_t columns, size_t element,
                 const char* role, const void* pointer, Access access, Operands* operands) {
  const auto size = static_cast<int64_t>(element);
  const int64_t row = layout.embed[2] * layout.stride * size;
  operands->add(role, pointer, element,
                {{columns, layout.stride * size},
                 {plan.n[1], row},
                 {plan.n[0], layout.embed[1] * row},
                 {plan.batch, layout.distance * size}},
                access);
}

Operands operands_of(const FftPlan& plan, const void* in, const void* out) {
  const bool in_place = in == out;
  const size_t complex = 2 * plan.real_size();
  const int64_t in_columns = plan.real_output() ? plan.half() : plan.n[2];
  const int64_t out_columns = plan.real_input() ? plan.half() : plan.n[2];
  Operands operands;
  add_operand(plan, plan.input_layout(in_place), in_columns,
              plan.real_input() ? plan.real_size() : complex, "input", in,
              plan.real_output() && !in_place ? Access::kSpoil : Access::kRead, &operands);
  add_operand(plan, plan.output_layout(in_place), out_columns,
              plan.real_output() ? plan.real_size() : complex, "output", out, Access::kWrite,
              &operands);
  return operands;
}

cufftResult result_of(cudaError_t error) {
  return error == cudaSuccess ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}

cufftResult execute(const Call& call, cufftHandle handle, cufftType type, const void* in, void* out,
                    int sign) {
  const std::shared_ptr<FftPlan> plan = Plans::instance().find(handle);
  if (plan == nullptr || !plan->made) return CUFFT_INVALID_PLAN;
  if (plan->type != type) {
    call.report("plan-of-other-type",
                "was given a plan for another type. Nothing was done. A GPU says nothing and "
                "transforms what is not there: make the plan with the type that the call names.");
    return CUFFT_INVALID_TYPE;
  }
  if (sign != CUFFT_FORWARD && sign != CUFFT_INVERSE) return CUFFT_INVALID_VALUE;
  if (!plan->own_work_area && plan->work_size > 0 && plan->work_area == nullptr) {
    call.explain("no-workspace",
                 "has no work area: after cufftSetAutoAllocation(plan, 0) the program hands one "
                 "over with cufftSetWorkArea, as large as cufftGetSize says.");
    return CUFFT_NO_WORKSPACE;
  }
  Placement placement;
  placement.device = plan->device;
  placement.stream = plan->stream;
  const double points = static_cast<double>(plan->n[0] * plan->n[1] * plan->n[2]);
  placement.operations = 5 * points * std::log2(points + 1) * static_cast<double>(plan->batch);
  Operands operands = operands_of(*plan, in, out);
  if (!plan->own_work_area && plan->work_size > 0) {
    operands.add("work area", plan->work_area, 1, {{static_cast<int64_t>(plan->work_size), 1}},
                 Access::kWrite);
  }
  return result_of(call.enqueue(placement, operands, [copy = *plan, in, out, sign] {
    run_fft(copy, view(in), view(out), sign);
  }));
}

}  // namespace

extern "C" {

cufftResult cufftPlan1d(cufftHandle* plan, int nx, cufftType type, int batch) {
  WARPLINGS_MAY_FAIL(cufftPlan1d, CUFFT_INTERNAL_ERROR);
  return create(plan, request_of(1, &nx, type, batch));
}

cufftResult cufftPlan2d(cufftHandle* plan, int nx, int ny, cufftType type) {
  WARPLINGS_MAY_FAIL(cufftPlan2d, CUFFT_INTERNAL_ERROR);
  const int n[] = {nx, ny};
  return create(plan, request_of(2, n, type, 1));
}

cufftResult cufftPlan3d(cufftHandle* plan, int nx, int ny, int nz, cufftType type) {
  WARPLINGS_MAY_FAIL(cufftPlan3d, CUFFT_INTERNAL_ERROR);
  const int n[] = {nx, ny, nz};
  return create(plan, request_of(3, n, type, 1));
}

cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* inembed, int istride, int idist,
                          int* onembed, int ostride, int odist, cufftType type, int batch) {
  WARPLINGS_MAY_FAIL(cufftPlanMany, CUFFT_INTERNAL_ERROR);
  return create(plan, {rank, n, inembed, onembed, istride, idist, ostride, odist, type, batch});
}

cufftResult cufftCreate(cufftHandle* handle) {
  WARPLINGS_MAY_FAIL(cufftCreate, CUFFT_ALLOC_FAILED);
  if (handle == nullptr) return CUFFT_INVALID_VALUE;
  *handle = Plans::instance().add();
  return CUFFT_SUCCESS;
}

cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, size_t* workSize) {
  WARPLINGS_MAY_FAIL(cufftMakePlan1d, CUFFT_INTERNAL_ERROR);
  return make(plan, request_of(1, &nx, type, batch), workSize);
}

cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t* workSize) {
  WARPLINGS_MAY_FAIL(cufftMakePlan2d, CUFFT_INTERNAL_ERROR);
  const int n[] = {nx, ny};
  return make(plan, request_of(2, n, type, 1), workSize);
}

cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type,
                            size_t* workSize) {
  WARPLINGS_MAY_FAIL(cufftMakePlan3d, CUFFT_INTERNAL_ERROR);
  const int n[] = {nx, ny, nz};
  return make(plan, request_of(3, n, type, 1), workSize);
}

cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int* n, int* inembed, int istride,
                              int idist, int* onembed, int ostride, int odist, cufftType type,
                              int batch, size_t* workSize) {
  WARPLINGS_MAY_FAIL(cufftMakePlanMany, CUFFT_INTERNAL_ERROR);
  return make(plan, {rank, n, inembed, onembed, istride, idist, ostride, odist, type, batch},
              workSize);
}

cufftResult cufftGetSize(cufftHandle handle, size_t* workSize) {
  WARPLINGS_MAY_FAIL(cufftGetSize, CUFFT_INTERNAL_ERROR);
  const auto plan = Plans::instance().find(handle);
  if (plan == nullptr) return CUFFT_INVALID_PLAN;
  if (workSize == nullptr) return CUFFT_INVALID_VALUE;
  *workSize = plan->work_size;
  return CUFFT_SUCCESS;
}

cufftResult cufftSetAutoAllocation(cufftHandle handle, int autoAllocate) {
  WARPLINGS_MAY_FAIL(cufftSetAutoAllocation, CUFFT_ALLOC_FAILED);
  const auto plan = Plans::instance().find(handle);
  if (plan == nullptr) return CUFFT_INVALID_PLAN;
  plan->own_work_area = autoAllocate != 0;
  return CUFFT_SUCCESS;
}

cufftResult cufftSetWorkArea(cufftHandle handle, void* workArea) {
  WARPLINGS_MAY_FAIL(cufftSetWorkArea, CUFFT_INTERNAL_ERROR);
  const auto plan = Plans::instance().find(handle);
  if (plan == nullptr) return CUFFT_INVALID_PLAN;
  plan->work_area = workArea;
  return CUFFT_SUCCESS;
}

cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream) {
  WARPLINGS_MAY_FAIL(cufftSetStream, CUFFT_INTERNAL_ERROR);
  const auto plan = Plans::instance().find(handle);
  if (plan == nullptr) return CUFFT_INVALID_PLAN;
  plan->stream = stream;
  wsim_library_mode("stream of a cuFFT plan", plan.get(), reinterpret_cast<int64_t>(stream));
  return CUFFT_SUCCESS;
}

cufftResult cufftDestroy(cufftHandle plan) {
  return Plans::instance().remove(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* idata, cufftComplex* odata,
                         int direction) {
  WARPLINGS_LIBRARY_CALL(cufftExecC2C);
  return execute(call, plan, CUFFT_C2C, idata, odata, direction);
}

cufftResult cufftExecR2C(cufftHandle plan, cufftReal* idata, cufftComplex* odata) {
  WARPLINGS_LIBRARY_CALL(cufftExecR2C);
  return execute(call, plan, CUFFT_R2C, idata, odata, CUFFT_FORWARD);
}

cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* idata, cufftReal* odata) {
  WARPLINGS_LIBRARY_CALL(cufftExecC2R);
  return execute(call, plan, CUFFT_C2R, idata, odata, CUFFT_INVERSE);
}

cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* idata, cufftDoubleComplex* odata,
                         int direction) {
  WARPLINGS_LIBRARY_CALL(cufftExecZ2Z);
  return execute(call, plan, CUFFT_Z2Z, idata, odata, direction);
}

cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* idata, cufftDoubleComplex* odata) {
  WARPLINGS_LIBRARY_CALL(cufftExecD2Z);
  return execute(call, plan, CUFFT_D2Z, idata, odata, CUFFT_FORWARD);
}

cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* idata, cufftDoubleReal* odata) {
  WARPLINGS_LIBRARY_CALL(cufftExecZ2D);
  return execute(call, plan, CUFFT_Z2D, idata, odata, CUFFT_INVERSE);
}

cufftResult cufftGetVersion(int* version) {
  if (version == nullptr) return CUFFT_INVALID_VALUE;
  *version = CUFFT_VERSION;
  return CUFFT_SUCCESS;
}

cufftResult cufftGetProperty(libraryPropertyType type, int* value) {
  if (value == nullptr) return CUFFT_INVALID_VALUE;
  switch (type) {
    case MAJOR_VERSION:
      *value = CUFFT_VER_MAJOR;
      return CUFFT_SUCCESS;
    case MINOR_VERSION:
      *value = CUFFT_VER_MINOR;
      return CUFFT_SUCCESS;
    case PATCH_LEVEL:
      *value = CUFFT_VER_PATCH;
      return CUFFT_SUCCESS;
  }
  return CUFFT_INVALID_VALUE;
}

}  // extern "C"
