// Types that arrays of a speed measurement may have.
#ifndef WARPLINGS_KIT_SPEED_ELEMENT_H_
#define WARPLINGS_KIT_SPEED_ELEMENT_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

struct __nv_bfloat16;  // cuda_bf16.h

namespace kit::internal {

enum class Element : uint8_t { kFloat, kDouble, kInt32, kUint32, kUint8, kBfloat16 };

template <class T>
constexpr Element element_of() {
  static_assert(std::is_same<T, float>::value || std::is_same<T, double>::value ||
                    std::is_same<T, int>::value || std::is_same<T, unsigned>::value ||
                    std::is_same<T, unsigned char>::value || std::is_same<T, __nv_bfloat16>::value,
                "a speed measurement has arrays of float, double, int, unsigned, unsigned char and "
                "__nv_bfloat16");
  if (std::is_same<T, float>::value) return Element::kFloat;
  if (std::is_same<T, double>::value) return Element::kDouble;
  if (std::is_same<T, int>::value) return Element::kInt32;
  if (std::is_same<T, unsigned>::value) return Element::kUint32;
  if (std::is_same<T, __nv_bfloat16>::value) return Element::kBfloat16;
  return Element::kUint8;
}

inline size_t size_of(Element element) {
  switch (element) {
    case Element::kDouble:
      return 8;
    case Element::kUint8:
      return 1;
    case Element::kBfloat16:
      return 2;
    default:
      return 4;
  }
}

// Calls f with a null pointer to the element's type. Who looks into it includes cuda_bf16.h.
template <class F>
auto with_type(Element element, const F& f) {
  switch (element) {
    case Element::kDouble:
      return f(static_cast<double*>(nullptr));
    case Element::kInt32:
      return f(static_cast<int*>(nullptr));
    case Element::kUint32:
      return f(static_cast<unsigned*>(nullptr));
    case Element::kUint8:
      return f(static_cast<unsigned char*>(nullptr));
    case Element::kBfloat16:
      return f(static_cast<__nv_bfloat16*>(nullptr));
    default:
      return f(static_cast<float*>(nullptr));
  }
}

}  // namespace kit::internal

#endif  // WARPLINGS_KIT_SPEED_ELEMENT_H_
