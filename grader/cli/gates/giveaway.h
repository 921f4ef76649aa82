// Whether a page gives an answer away: how many of the tokens of a TODO's answer stand, in pieces
// of some length and in any order, in one code block.
#ifndef WARPLINGS_CLI_GATES_GIVEAWAY_H_
#define WARPLINGS_CLI_GATES_GIVEAWAY_H_

#include <string>
#include <unordered_set>
#include <vector>

#include "cli/gates/gate.h"

namespace grade {

// C++ and Python without comments and spaces. Names that somebody chose count as one and the same,
// so do literals; keywords and names of CUDA stay what they are.
std::vector<std::string> tokens_of(const std::string& code);

// The share of `answer` that `block` holds, from 0 to 1.
double share_given(const std::vector<std::string>& answer, const std::vector<std::string>& block);

// A share that share_given does not exceed, for a small part of its time: pages hold many blocks,
// and nearly all of them have nothing of an answer. Pieces are hashes of as many tokens as count,
// in order; 1 for an answer that is shorter.
std::vector<size_t> pieces_of(const std::vector<std::string>& tokens);
double most_given(const std::vector<size_t>& answer, const std::unordered_set<size_t>& block);

// "FILE:LINE holds 63 % of 03/05, TODO 2", for every block of a chapter that holds too much.
std::vector<std::string> giveaways(const GateContext& context, const course::Chapter& chapter);

}  // namespace grade
#endif  // WARPLINGS_CLI_GATES_GIVEAWAY_H_
