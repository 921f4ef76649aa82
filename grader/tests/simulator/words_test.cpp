// What the texts of findings are made of.
#include "checks/words.h"

#include <gtest/gtest.h>

using warplings::sim::readable;

TEST(Words, LeaveTheNameOfAKernelAsItIs) {
  EXPECT_EQ(readable("vector_add"), "vector_add");
  EXPECT_EQ(readable("tiles::matmul<32, float>"), "tiles::matmul<32, float>");
}

TEST(Words, ShortenNamesThatFillALine) {
  EXPECT_EQ(readable("cub::CUB_300001_SM_800::detail::radix_sort::DeviceRadixSortSingleTileKernel<"
                     "cub::CUB_300001_SM_800::detail::radix::policy_hub<int, int>::Policy1000, "
                     "(cub::CUB_300001_SM_800::SortOrder)0>"),
            "DeviceRadixSortSingleTileKernel");
  EXPECT_EQ(readable("a_kernel_whose_name_alone_has_more_characters_than_a_line_has_room_for"),
            "a_kernel_whose_name_alone_has_more_characters_than_a_line_has_room_for");
}
