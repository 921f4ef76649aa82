// 03/12 Occupancy limits: what the test calls.
#ifndef CHAPTERS_03_MEMORY_MODEL_12_OCCUPANCY_LIMITS_H_
#define CHAPTERS_03_MEMORY_MODEL_12_OCCUPANCY_LIMITS_H_

// What one multiprocessor of a card has, and how many of them there are.
struct Card {
  int multiprocessors;
  int blocks;           // slots for blocks
  int threads;          // slots for threads, a multiple of 32
  int registers;        // of 32 bits
  int quarters;         // each with a scheduler of its own and its part of the registers
  int register_unit;    // registers of a warp are rounded up to this
  int shared_bytes;     // that all its blocks together may have
  int shared_reserved;  // bytes that the system takes out of that for each block
  int shared_unit;      // bytes; a block's share, reserved part included, is rounded up to this
};

// What a block of a kernel needs.
struct BlockNeeds {
  int threads;       // 1 to 1024
  int registers;     // per thread, 1 to 255
  int shared_bytes;  // static and dynamic together
};

// How many blocks fit on one multiprocessor at the same time as far as one resource goes; 0 if not
// even one does. Shared memory counts with what the card reserves for each block; where both are 0,
// it limits nothing, and by_shared is by_slots.
struct BlockLimits {
  int by_slots, by_threads, by_registers, by_shared;
  int blocks;  // the least of the four
};
BlockLimits block_limits(const Card& card, const BlockNeeds& needs);

Card card_of_device(int device);

// Share of the warp slots that are taken, 0 to 1, and how often the card fills up for a launch;
// both are 0 where no block fits.
double occupancy(const Card& card, const BlockNeeds& needs, const BlockLimits& limits);
double waves(const Card& card, const BlockLimits& limits, int blocks_of_the_launch);

// Three kernels, for cudaFuncGetAttributes and the occupancy functions of the runtime.
const void* light_kernel();     // few registers, no shared memory
const void* staged_kernel();    // 12,800 bytes of static shared memory
const void* variance_kernel();  // many registers

// y[i] = variance of the 52 values x[0][i] ... x[51][i].
//   d_x   52 x n floats, row-major;   d_y   n floats, both in device memory; n >= 1
constexpr int kWeeks = 52;
void launch_variance(const float* d_x, float* d_y, int n);

#endif  // CHAPTERS_03_MEMORY_MODEL_12_OCCUPANCY_LIMITS_H_
