// Tests of 04/05 integer atomics.
#include "05_integer_atomics.h"

#include <algorithm>
#include <climits>

#include "kit/kit.h"

namespace {

constexpr int kLockers = 40;

std::vector<unsigned> random_bits(int n, unsigned always) {
  std::vector<unsigned> bits;
  for (const int value : kit::random_ints(n, 0, INT_MAX)) {
    bits.push_back((static_cast<unsigned>(value) * 2 & 0x80FFFF00u) | always);
  }
  return bits;
}

constexpr Museum kEmptyMuseum = {1000, 5000, INT_MAX, INT_MIN, 0u,
                                 ~0u,  0u,   kNobody, 0u,      kPrizeEvery - 1};

// What a museum and its lockers are like before the first visitor, and what the oldest and the
// youngest visitor's ages are.
struct Morning {
  const char* name;
  Museum museum;
  bool lockers_taken = false;  // every third one, by somebody of the day before
  int youngest = 3, oldest = 97;
};
std::ostream& operator<<(std::ostream& out, const Morning& morning) {
  return out << morning.name << ", next_desk = " << morning.museum.next_desk
             << ", until_prize = " << morning.museum.until_prize;
}

// One day of n visitors: what they bring, the launch, and what came of it.
struct Day {
  int n;
  std::vector<int> spent, tickets, age, wanted;
  std::vector<unsigned> rooms, badge;
  Museum morning;
  Museum evening = {};
  std::vector<int> previous, has_locker, desk, prize, lockers_before, lockers;
  bool ok = false;

  explicit Day(int n_, const Morning& before = {"an empty museum", kEmptyMuseum})
      : n(n_),
        spent(kit::random_ints(n, -20, 90)),
        tickets(kit::random_ints(n, 0, 4)),
        age(kit::random_ints(n, before.youngest, before.oldest)),
        wanted(kit::random_ints(n, 0, kLockers - 1)),
        rooms(random_bits(n, 0x5u)),
        badge(random_bits(n, 0u)),
        morning(before.museum),
        lockers_before(kLockers, kNobody) {
    for (int k = 0; k < kLockers && before.lockers_taken; k += 3) lockers_before[k] = n + k;
    const auto d_spent = kit::DeviceBuffer<int>::input(spent, "spent");
    const auto d_tickets = kit::DeviceBuffer<int>::input(tickets, "tickets");
    const auto d_age = kit::DeviceBuffer<int>::input(age, "age");
    const auto d_wanted = kit::DeviceBuffer<int>::input(wanted, "wanted");
    const auto d_rooms = kit::DeviceBuffer<unsigned>::input(rooms, "rooms");
    const auto d_badge = kit::DeviceBuffer<unsigned>::input(badge, "badge");
    const auto d_previous = kit::DeviceBuffer<int>::inout(std::vector<int>(n, -2), "previous");
    const auto d_has_locker = kit::DeviceBuffer<int>::inout(std::vector<int>(n, -2), "has_locker");
    const auto d_desk = kit::DeviceBuffer<int>::inout(std::vector<int>(n, -2), "desk");
    const auto d_prize = kit::DeviceBuffer<int>::inout(std::vector<int>(n, -2), "prize");
    const auto d_lockers = kit::DeviceBuffer<int>::inout(lockers_before, "lockers");
    const auto d_museum = kit::DeviceBuffer<Museum>::inout({morning}, "museum");
    const Visitors visitors = {d_spent.get(), d_tickets.get(), d_age.get(),
                               d_rooms.get(), d_badge.get(),   d_wanted.get()};
    const Gets gets = {d_previous.get(), d_has_locker.get(), d_desk.get(), d_prize.get()};
    ok = kit::run([&] { launch_one_day(visitors, gets, d_museum.get(), d_lockers.get(), n); }).ok();
    evening = d_museum.download()[0];
    previous = d_previous.download();
    has_locker = d_has_locker.download();
    desk = d_desk.download();
    prize = d_prize.download();
    lockers = d_lockers.download();
  }
};

template <class T>
void expect_field(const char* field, T got, T expected, T morning) {
  if (got == expected) return;
  std::ostringstream text;
  text << field << " is " << got << " in the evening, expected " << expected << ". It was "
       << morning << " in the morning.";
  kit::fail(text.str());
}

void check_sums(const Day& day) {
  if (!day.ok) return;
  int cash = day.morning.cash, left = day.morning.tickets_left;
  for (int i = 0; i < day.n; ++i) {
    cash += day.spent[i];
    left -= day.tickets[i];
  }
  expect_field("cash", day.evening.cash, cash, day.morning.cash);
  expect_field("tickets_left", day.evening.tickets_left, left, day.morning.tickets_left);
}

void check_extremes(const Day& day) {
  if (!day.ok) return;
  int youngest = day.morning.youngest, oldest = day.morning.oldest;
  for (const int age : day.age) {
    youngest = std::min(youngest, age);
    oldest = std::max(oldest, age);
  }
  expect_field("youngest", day.evening.youngest, youngest, day.morning.youngest);
  expect_field("oldest", day.evening.oldest, oldest, day.morning.oldest);
}

void check_bits(const Day& day) {
  if (!day.ok) return;
  unsigned any = day.morning.seen_by_any, all = day.morning.seen_by_all, badge = day.morning.badge;
  for (int i = 0; i < day.n; ++i) {
    any |= day.rooms[i];
    all &= day.rooms[i];
    badge ^= day.badge[i];
  }
  expect_field("seen_by_any", day.evening.seen_by_any, any, day.morning.seen_by_any);
  expect_field("seen_by_all", day.evening.seen_by_all, all, day.morning.seen_by_all);
  expect_field("badge", day.evening.badge, badge, day.morning.badge);
}

// From the last visitor back to the first: n steps, nobody twice, and then who was the last in the
// morning.
void check_followers(const Day& day) {
  if (!day.ok) return;
  std::vector<bool> met(day.n, false);
  int visitor = day.evening.last, steps = 0;
  for (; steps < day.n && visitor != kNobody; ++steps) {
    if (visitor < 0 || visitor >= day.n || met[visitor]) {
      kit::fail("Going back from last through previous, visitor " + std::to_string(visitor) +
                " comes after " + std::to_string(steps) + " steps: " +
                (visitor < 0 || visitor >= day.n ? "there is no such visitor."
                                                 : "this one has been met before."));
      return;
    }
    met[visitor] = true;
    visitor = day.previous[visitor];
  }
  if (steps != day.n) {
    kit::fail("Going back from last through previous one meets " + std::to_string(steps) +
              " visitors of " + std::to_string(day.n) +
              ". Who was exchanged for whom, as one step?");
  } else if (visitor != day.morning.last) {
    kit::fail("The first visitor of the day follows " + std::to_string(visitor) +
              ", and the last one of the morning was " + std::to_string(day.morning.last) + ".");
  }
}

void check_lockers(const Day& day) {
  for (int i = 0; i < day.n && day.ok; ++i) {
    const int owner = day.lockers[day.wanted[i]], before = day.lockers_before[day.wanted[i]];
    const std::string who = "Visitor " + std::to_string(i) + " wanted locker " +
                            std::to_string(day.wanted[i]) + ", whose owner in the evening is " +
                            std::to_string(owner) + "; has_locker is " +
                            std::to_string(day.has_locker[i]) + ". ";
    if (before != kNobody && owner != before) {
      kit::fail(who + "It was taken in the morning, by " + std::to_string(before) +
                ", and stays so.");
      return;
    }
    if (before == kNobody && (owner < 0 || owner >= day.n || day.wanted[owner] != day.wanted[i])) {
      kit::fail(who + "The owner must be one of those who wanted it.");
      return;
    }
    if (day.has_locker[i] != (owner == i ? 1 : 0)) {
      kit::fail(who + "It must be 1 for the owner and 0 for all others.");
      return;
    }
  }
}

void check_desks(const Day& day) {
  if (!day.ok) return;
  const unsigned first = day.morning.next_desk, n = static_cast<unsigned>(day.n);
  std::vector<int> served(kDesks, 0), expected(kDesks, day.n / static_cast<int>(kDesks));
  for (unsigned d = 0; d < n % kDesks; ++d) ++expected[(first + d) % kDesks];
  for (int i = 0; i < day.n; ++i) {
    if (day.desk[i] < 0 || day.desk[i] >= static_cast<int>(kDesks)) {
      kit::fail("Visitor " + std::to_string(i) + " was sent to desk " +
                std::to_string(day.desk[i]) + "; there are desks 0 to " +
                std::to_string(kDesks - 1) + ".");
      return;
    }
    ++served[day.desk[i]];
  }
  kit::expect_equal("visitors served at each desk", served, expected);
  expect_field("next_desk", day.evening.next_desk, (first + n) % kDesks, first);
}

void check_prizes(const Day& day) {
  if (!day.ok) return;
  const int every = static_cast<int>(kPrizeEvery);
  const int before = static_cast<int>(day.morning.until_prize);  // the first winner
  const auto winners = std::count(day.prize.begin(), day.prize.end(), 1);
  const auto losers = std::count(day.prize.begin(), day.prize.end(), 0);
  const int expected = (day.n + every - 1 - before) / every;
  if (winners != expected || winners + losers != day.n) {
    kit::fail("prize is 1 for " + std::to_string(winners) + " and 0 for " + std::to_string(losers) +
              " of " + std::to_string(day.n) + " visitors; expected " + std::to_string(expected) +
              " winners.");
    return;
  }
  const int evening = (before + every - day.n % every) % every;
  expect_field("until_prize", day.evening.until_prize, static_cast<unsigned>(evening),
               day.morning.until_prize);
}

void check_all(int n, const Morning& morning) {
  const Day day(n, morning);
  check_sums(day);
  check_extremes(day);
  check_bits(day);
  check_followers(day);
  check_lockers(day);
  check_desks(day);
  check_prizes(day);
}

const std::vector<int>& visitor_counts() {
  static const std::vector<int> counts = {1, 31, 32, 33, 34, 128, 500, 1031};
  return counts;
}

// Every desk and every number of visitors before a prize that the header allows.
std::vector<Morning> mornings() {
  std::vector<Morning> all;
  for (unsigned desk = 0; desk < kDesks; ++desk) {
    for (unsigned before = 0; before < kPrizeEvery; ++before) {
      Museum museum = kEmptyMuseum;
      museum.next_desk = desk;
      museum.until_prize = before;
      all.push_back({"an empty museum", museum});
    }
  }
  return all;
}

}  // namespace

TEST(IntegerAtomics, AddsAndSubtracts) {
  RecordProperty("todo", 1);
  kit::for_each("visitors", visitor_counts(), [](int n) { check_sums(Day(n)); });
}

TEST(IntegerAtomics, FindsTheExtremes) {
  RecordProperty("todo", 1);
  kit::for_each("visitors", visitor_counts(), [](int n) { check_extremes(Day(n)); });
}

TEST(IntegerAtomics, CombinesBits) {
  RecordProperty("todo", 2);
  kit::for_each("visitors", visitor_counts(), [](int n) { check_bits(Day(n)); });
}

TEST(IntegerAtomics, EachVisitorFollowsAnother) {
  RecordProperty("todo", 3);
  kit::for_each("visitors", visitor_counts(), [](int n) { check_followers(Day(n)); });
}

TEST(IntegerAtomics, EachLockerHasOneOwner) {
  RecordProperty("todo", 3);
  kit::for_each("visitors", visitor_counts(), [](int n) { check_lockers(Day(n)); });
}

TEST(IntegerAtomics, DesksTakeTurns) {
  RecordProperty("todo", 3);
  kit::for_each("visitors", visitor_counts(), [](int n) { check_desks(Day(n)); });
}

TEST(IntegerAtomics, OneOfFiveWinsAPrize) {
  RecordProperty("todo", 3);
  kit::for_each("visitors", visitor_counts(), [](int n) { check_prizes(Day(n)); });
}

// Whatever the turn is that the day begins with: the last desk, or a prize for the first visitor.
TEST(IntegerAtomics, TurnsGoOnFromTheDayBefore) {
  RecordProperty("todo", 3);
  kit::for_each("the morning is", mornings(), [](const Morning& morning) {
    for (const int n : {1, 4, 33}) {
      check_desks(Day(n, morning));
      check_prizes(Day(n, morning));
    }
  });
}

TEST(IntegerAtomics, ADayMayBeginAnyhow) {
  RecordProperty("todo", 3);
  constexpr unsigned kSome = 0x80000f00u, kMost = 0xfffffff5u;
  const std::vector<Morning> all = {
      {"much has happened", {7, 9, 20, 30, kSome, kMost, kSome, 12, 5, 0}, true},
      {"nobody has come", {0, 0, INT_MAX, INT_MIN, 0u, ~0u, ~0u, kNobody, 0, 4}},
      {"the last visitor has a large number", {0, 0, 1, 2, ~0u, 0u, 1u, INT_MAX, 1, 2}, true},
      {"the first visitor was the last one", {0, 0, 0, 0, ~0u, ~0u, 0u, 0, 3, 3}},
      {"much is owed", {INT_MIN + 100'000, INT_MIN + 100'000, -5, 5, 0u, ~0u, 0u, 3, 4, 1}},
      {"much is there", {INT_MAX - 100'000, INT_MAX, 50, 50, 0u, ~0u, 0u, 3, 2, 0}},
      {"ages are any numbers",
       {0, 0, INT_MAX, INT_MIN, 0u, ~0u, 0u, 3, 0, 0},
       false,
       INT_MIN + 1,
       INT_MAX - 1},
      {"ages are below 0", {0, 0, INT_MAX, INT_MIN, 0u, ~0u, 0u, 3, 0, 0}, false, -50, -3},
      {"the youngest and the oldest were here", {0, 0, INT_MIN, INT_MAX, 0u, ~0u, 0u, 3, 0, 0}},
  };
  kit::for_each("the morning is", all, [](const Morning& morning) {
    for (const int n : {500, 1}) check_all(n, morning);
  });
}

TEST(IntegerAtomics, NothingHappensWithoutVisitors) {
  RecordProperty("todo", 3);
  const Day day(0);
  if (!day.ok) return;
  expect_field("cash", day.evening.cash, day.morning.cash, day.morning.cash);
  expect_field("last", day.evening.last, kNobody, day.morning.last);
}
