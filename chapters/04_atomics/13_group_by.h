// 04/13 Group by: what the test calls.
#ifndef CHAPTERS_04_ATOMICS_13_GROUP_BY_H_
#define CHAPTERS_04_ATOMICS_13_GROUP_BY_H_

#include <cstddef>

constexpr int kMostGroups = 2048;         // different keys
constexpr size_t kWorkBytes = 512 << 10;  // for use by the launcher

// The result, a row for each group; pointers to device memory with room for all groups.
struct Groups {
  int* key;          // ascending
  int* count;        // how many rows have this key
  float* largest;    // the largest of their values
  long long* total;  // the sum of their values, in units of 2^-32
};

// One row of the result for each key among d_key[0] to d_key[n - 1], and *d_number = how many there
// are. Nothing is written behind the last of them. For the total, each value is rounded to the
// nearest multiple of 2^-32, of two that are as near to the even one, and these are added without
// any error.
//   d_key, d_value  n ints from 0 to 2^31 - 1, of which at most kMostGroups are different, and n
//                   floats from -1 to 1; aligned to 16 bytes, 0 <= n <= 2^30
//   d_number        one int in device memory; holds nothing of use before the call
//   d_work          kWorkBytes of device memory, aligned to 256; hold nothing of use before the
//   call
void launch_group_by(const int* d_key, const float* d_value, int n, const Groups& groups,
                     int* d_number, void* d_work);

#endif  // CHAPTERS_04_ATOMICS_13_GROUP_BY_H_
