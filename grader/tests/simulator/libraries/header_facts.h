// What a header says of the names in header_facts.def: values, sizes and types of functions.
#ifndef WARPLINGS_TESTS_SIMULATOR_LIBRARIES_HEADER_FACTS_H_
#define WARPLINGS_TESTS_SIMULATOR_LIBRARIES_HEADER_FACTS_H_

#include <string>
#include <vector>

struct HeaderFact {
  std::string name, fact;
};

std::vector<HeaderFact> facts_of_our_headers();
std::vector<HeaderFact> facts_of_vendor_headers();

#endif  // WARPLINGS_TESTS_SIMULATOR_LIBRARIES_HEADER_FACTS_H_
