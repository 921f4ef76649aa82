// Our headers say what the vendor's say: a program built with either works with both libraries.
#include "header_facts.h"

#include <gtest/gtest.h>

TEST(Headers, AgreeWithTheVendors) {
  const std::vector<HeaderFact> ours = facts_of_our_headers(), theirs = facts_of_vendor_headers();
  ASSERT_EQ(ours.size(), theirs.size());
  ASSERT_GT(ours.size(), 100u);
  for (size_t i = 0; i < ours.size(); ++i) EXPECT_EQ(ours[i].fact, theirs[i].fact) << ours[i].name;
}
