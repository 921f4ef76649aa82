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

// One day of n visitors: what they bring, the launch, and what came of it.
struct Day {
  int n;
  std::vector<int> spent, tickets, age, wanted;
  std::vector<unsigned> rooms, badge;
  Museum morning = {1000, 5000, INT_MAX, INT_MIN, 0u, ~0u, 0u, kNobody, 0u, kPrizeEvery - 1};
  Museum evening = {};
  std::vector<int> previous, has_locker, desk, prize, lockers;
  bool ok = false;

  explicit Day(int n_)
      : n(n_),
        spent(kit::random_ints(n, -20, 90)),
        tickets(kit::random_ints(n, 0, 4)),
        age(kit::random_ints(n, 3, 97)),
        wanted(kit::random_ints(n, 0, kLockers - 1)),
        rooms(random_bits(n, 0x5u)),
        badge(random_bits(n, 0u)) {
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
    const auto d_lockers =
        kit::DeviceBuffer<int>::inout(std::vector<int>(kLockers, kNobody), "lockers");
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

const std::vector<int>& visitor_counts() {
  static const std::vector<int> counts = {1, 31, 32, 33, 34, 128, 500, 1031};
  return counts;
}

}  // namespace

TEST(IntegerAtomics, AddsAndSubtracts) {
  RecordProperty("todo", 1);
  kit::for_each("visitors", visitor_counts(), [](int n) {
    const Day day(n);
    int cash = day.morning.cash, left = day.morning.tickets_left;
    for (int i = 0; i < n; ++i) {
      cash += day.spent[i];
      left -= day.tickets[i];
    }
    if (!day.ok) return;
    expect_field("cash", day.evening.cash, cash, day.morning.cash);
    expect_field("tickets_left", day.evening.tickets_left, left, day.morning.tickets_left);
  });
}

TEST(IntegerAtomics, FindsTheExtremes) {
  RecordProperty("todo", 1);
  kit::for_each("visitors", visitor_counts(), [](int n) {
    const Day day(n);
    if (!day.ok) return;
    const auto ages = std::minmax_element(day.age.begin(), day.age.end());
    expect_field("youngest", day.evening.youngest, *ages.first, day.morning.youngest);
    expect_field("oldest", day.evening.oldest, *ages.second, day.morning.oldest);
  });
}

TEST(IntegerAtomics, CombinesBits) {
  RecordProperty("todo", 2);
  kit::for_each("visitors", visitor_counts(), [](int n) {
    const Day day(n);
    unsigned any = 0u, all = ~0u, badge = 0u;
    for (int i = 0; i < n; ++i) {
      any |= day.rooms[i];
      all &= day.rooms[i];
      badge ^= day.badge[i];
    }
    if (!day.ok) return;
    expect_field("seen_by_any", day.evening.seen_by_any, any, day.morning.seen_by_any);
    expect_field("seen_by_all", day.evening.seen_by_all, all, day.morning.seen_by_all);
    expect_field("badge", day.evening.badge, badge, day.morning.badge);
  });
}

TEST(IntegerAtomics, EachVisitorFollowsAnother) {
  RecordProperty("todo", 3);
  kit::for_each("visitors", visitor_counts(), [](int n) {
    const Day day(n);
    if (!day.ok) return;
    // From the last visitor back to the first: n steps, nobody twice.
    std::vector<bool> met(n, false);
    int steps = 0;
    for (int visitor = day.evening.last; visitor != kNobody; visitor = day.previous[visitor]) {
      if (visitor < 0 || visitor >= n || met[visitor]) {
        kit::fail("Going back from last through previous, visitor " + std::to_string(visitor) +
                  " comes after " + std::to_string(steps) + " steps: " +
                  (visitor < 0 || visitor >= n ? "there is no such visitor."
                                               : "this one has been met before."));
        return;
      }
      met[visitor] = true;
      ++steps;
    }
    if (steps != n) {
      kit::fail("Going back from last through previous one meets " + std::to_string(steps) +
                " visitors of " + std::to_string(n) + ". Who was exchanged for whom, as one step?");
    }
  });
}

TEST(IntegerAtomics, EachLockerHasOneOwner) {
  RecordProperty("todo", 3);
  kit::for_each("visitors", visitor_counts(), [](int n) {
    const Day day(n);
    for (int i = 0; i < n && day.ok; ++i) {
      const int owner = day.lockers[day.wanted[i]];
      const std::string who = "Visitor " + std::to_string(i) + " wanted locker " +
                              std::to_string(day.wanted[i]) + ", whose owner in the evening is " +
                              std::to_string(owner) + "; has_locker is " +
                              std::to_string(day.has_locker[i]) + ". ";
      if (owner < 0 || owner >= n || day.wanted[owner] != day.wanted[i]) {
        kit::fail(who + "The owner must be one of those who wanted it.");
        return;
      }
      if (day.has_locker[i] != (owner == i ? 1 : 0)) {
        kit::fail(who + "It must be 1 for the owner and 0 for all others.");
        return;
      }
    }
  });
}

TEST(IntegerAtomics, DesksTakeTurns) {
  RecordProperty("todo", 3);
  kit::for_each("visitors", visitor_counts(), [](int n) {
    const Day day(n);
    if (!day.ok) return;
    std::vector<int> served(kDesks, 0), expected(kDesks, n / static_cast<int>(kDesks));
    for (unsigned d = 0; d < n % kDesks; ++d) ++expected[d];
    for (int i = 0; i < n; ++i) {
      if (day.desk[i] < 0 || day.desk[i] >= static_cast<int>(kDesks)) {
        kit::fail("Visitor " + std::to_string(i) + " was sent to desk " +
                  std::to_string(day.desk[i]) + "; there are desks 0 to " +
                  std::to_string(kDesks - 1) + ".");
        return;
      }
      ++served[day.desk[i]];
    }
    kit::expect_equal("visitors served at each desk", served, expected);
    expect_field("next_desk", day.evening.next_desk, n % kDesks, day.morning.next_desk);
  });
}

TEST(IntegerAtomics, OneOfFiveWinsAPrize) {
  RecordProperty("todo", 3);
  kit::for_each("visitors", visitor_counts(), [](int n) {
    const Day day(n);
    if (!day.ok) return;
    const auto winners = std::count(day.prize.begin(), day.prize.end(), 1);
    const auto losers = std::count(day.prize.begin(), day.prize.end(), 0);
    const int expected = n / static_cast<int>(kPrizeEvery);
    if (winners != expected || winners + losers != n) {
      kit::fail("prize is 1 for " + std::to_string(winners) + " and 0 for " +
                std::to_string(losers) + " of " + std::to_string(n) + " visitors; expected " +
                std::to_string(expected) + " winners.");
      return;
    }
    expect_field("until_prize", day.evening.until_prize, kPrizeEvery - 1 - n % kPrizeEvery,
                 day.morning.until_prize);
  });
}

TEST(IntegerAtomics, NothingHappensWithoutVisitors) {
  RecordProperty("todo", 3);
  const Day day(0);
  if (!day.ok) return;
  expect_field("cash", day.evening.cash, day.morning.cash, day.morning.cash);
  expect_field("last", day.evening.last, kNobody, day.morning.last);
}
