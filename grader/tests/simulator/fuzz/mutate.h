// Damaged PTX: a text and a source of random numbers give another text.
#ifndef WARPLINGS_TESTS_SIMULATOR_FUZZ_MUTATE_H_
#define WARPLINGS_TESTS_SIMULATOR_FUZZ_MUTATE_H_

#include <string>

#include "random/generator.h"

namespace warplings::sim::fuzz {

// One to four changes of `text`; `other` is where foreign pieces come from.
std::string mutate(std::string text, const std::string& other, random::Generator& random);

}  // namespace warplings::sim::fuzz

#endif  // WARPLINGS_TESTS_SIMULATOR_FUZZ_MUTATE_H_
