// What the texts of all findings are made of.
#ifndef WARPLINGS_SIMULATOR_CHECKS_WORDS_H_
#define WARPLINGS_SIMULATOR_CHECKS_WORDS_H_

#include <cstdint>
#include <string>

#include "core/finding.h"
#include "exec/warp.h"

namespace warplings::sim {

// The name of a kernel as a line of text has room for it: of a long one what stands behind the last
// namespace, without its template arguments. Libraries have names of 300 characters.
std::string readable(const std::string& demangled);
std::string kernel_name(const Warp& warp);  // readable
std::string number(uint64_t n);
std::string bytes_text(uint64_t n);  // "1 byte", "12 bytes"

// A finding with its kernel and line filled in.
Finding make(const Warp& warp, const char* check, const char* kind, uint32_t pc);

// A loop may do the same wrong thing a million times: only the first is put into words. True if
// this instruction has been reported for the same reason.
enum class Report : uint64_t {
  kAccess = 1,
  kRace,
  kSameValueRace,
  kFirstGuess,
  kUnfencedRead,
  kUndefined,
  kDiscarded,
  kMissing,
  kCaller,
  kShuffle,
  kMasks,
  kPartialWarp,
  kRegisterInFlight,
  kWgmmaFence,
  kProxy,
  kUnreadBulk,
  kRemote,
  kEarly,
  kCachedRead
};
uint64_t key_at(const Warp& warp, uint32_t pc, Report report, uint64_t detail);
bool repeated(const Warp& warp, Report report, uint64_t detail);
// A result of arithmetic with undefined values is thrown away: a note.
KeyedFinding describe_discarded(const Warp& warp, uint32_t lanes);
bool repeated_at(const Warp& warp, uint32_t pc, Report report, uint64_t detail);

// "at 01_vector_add.cu:9", "at support.h:13 (called at 03_block_reduce.cu:19)", or the PTX line
// when there is no line information.
std::string at(const Warp& warp, uint32_t pc);

// "(3, 0)"; unused dimensions are left out.
std::string dims(unsigned x, unsigned y, unsigned z, const Dim3& extent);
uint32_t lane_value(const Warp& warp, uint32_t offset, int lane);  // of a special register

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CHECKS_WORDS_H_
