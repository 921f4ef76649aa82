// 04/05 Integer atomics: what the test calls.
#ifndef CHAPTERS_04_ATOMICS_05_INTEGER_ATOMICS_H_
#define CHAPTERS_04_ATOMICS_05_INTEGER_ATOMICS_H_

constexpr int kNobody = -1;
constexpr unsigned kDesks = 6;       // numbered 0 to 5
constexpr unsigned kPrizeEvery = 5;  // visitors

// What visitor i brings; every pointer to n values in device memory.
struct Visitors {
  const int* spent;       // money
  const int* tickets;     // bought
  const int* age;         // years
  const unsigned* rooms;  // bit r: has seen room r
  const unsigned* badge;  // number of a badge that was lent or returned
  const int* wanted;      // locker
};

// What visitor i gets; every pointer to n ints in device memory.
struct Gets {
  int* previous;    // the visitor who came in before, each a different one; the first of the day
                    // follows museum->last of the morning, which may be kNobody
  int* has_locker;  // 1 for the one visitor who got the wanted locker, else 0
  int* desk;        // desks take turns: each serves as many visitors as the others, or one more
  int* prize;       // 1 for exactly one of every kPrizeEvery visitors, else 0
};

// The state of the museum, in device memory.
struct Museum {
  int cash;              // grows by all that is spent
  int tickets_left;      // shrinks by all that are bought
  int youngest, oldest;  // ages
  unsigned seen_by_any;  // rooms that at least one visitor has seen
  unsigned seen_by_all;  // rooms that every visitor has seen
  unsigned badge;        // all badge numbers, exclusive or
  int last;              // who came in last, or kNobody
  unsigned next_desk;    // 0 to kDesks - 1
  unsigned until_prize;  // visitors before the next winner: kPrizeEvery - 1 down to 0
};

// All n visitors come at once, in any order. n from 0 to 2^30.
//   museum   holds the state of the morning, then that of the evening
//   lockers  owner of each locker, kNobody for a free one; updated in place
void launch_one_day(const Visitors& visitors, const Gets& gets, Museum* d_museum, int* d_lockers,
                    int n);

#endif  // CHAPTERS_04_ATOMICS_05_INTEGER_ATOMICS_H_
