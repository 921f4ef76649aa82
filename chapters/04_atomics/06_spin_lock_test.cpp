// Tests of 04/06 spin lock.
#include "06_spin_lock.h"

#include "kit/kit.h"
#include "kit/notes.h"

namespace {

// All mutexes must be free when a kernel has ended.
void expect_free(const kit::DeviceBuffer<int>& mutex) {
  const std::vector<int> values = mutex.download();
  for (size_t k = 0; k < values.size(); ++k) {
    if (values[k] == 0) continue;
    kit::fail("After the kernel mutex[" + std::to_string(k) + "] is " + std::to_string(values[k]) +
              ", not 0: its last owner never gave it back.");
    return;
  }
}

struct Deposits {
  int n, accounts;
};
std::ostream& operator<<(std::ostream& out, const Deposits& d) {
  return out << d.n << " (" << d.accounts << (d.accounts == 1 ? " account)" : " accounts)");
}

void check(const Deposits& d) {
  const std::vector<int> account = kit::random_ints(d.n, 0, d.accounts - 1);
  const std::vector<int> amount = kit::random_ints(d.n, -50, 100);
  std::vector<int> balance = kit::random_ints(d.accounts, 0, 500);
  const auto d_account = kit::DeviceBuffer<int>::input(account, "account");
  const auto d_amount = kit::DeviceBuffer<int>::input(amount, "amount");
  const auto d_balance = kit::DeviceBuffer<int>::inout(balance, "balance");
  const auto d_mutex = kit::DeviceBuffer<int>::inout(std::vector<int>(d.accounts, 0), "mutex");
  kit::run([&] {
    launch_deposits(d_account.get(), d_amount.get(), d_balance.get(), d_mutex.get(), d.n);
    kit::expect_no_note("missing-acquire-fence");
  });
  for (int i = 0; i < d.n; ++i) balance[account[i]] += amount[i];  // the reference
  kit::expect_equal(d_balance, balance);
  expect_free(d_mutex);
}

// Transfers from[i] -> to[i] of amount[i]; each account starts with `start`.
struct Bank {
  std::vector<int> from, to, amount;
  int accounts, start;
};

// `expected`: which transfers must be done, where that does not depend on the order.
void check(const Bank& bank, const std::vector<int>* expected = nullptr) {
  const int n = static_cast<int>(bank.from.size());
  const std::vector<int> start(bank.accounts, bank.start);
  const auto d_from = kit::DeviceBuffer<int>::input(bank.from, "from");
  const auto d_to = kit::DeviceBuffer<int>::input(bank.to, "to");
  const auto d_amount = kit::DeviceBuffer<int>::input(bank.amount, "amount");
  const auto d_balance = kit::DeviceBuffer<int>::inout(start, "balance");
  const auto d_mutex = kit::DeviceBuffer<int>::inout(std::vector<int>(bank.accounts, 0), "mutex");
  const auto d_done = kit::DeviceBuffer<int>::output(n, "done");
  const kit::Run run = kit::run([&] {
    launch_transfers(d_from.get(), d_to.get(), d_amount.get(), d_balance.get(), d_mutex.get(),
                     d_done.get(), n);
    kit::expect_no_note("missing-acquire-fence");
  });
  if (!run.ok()) return;
  // Which transfers find enough money depends on the order, but not what follows from them.
  std::vector<int> balance = start;
  const std::vector<int> done = d_done.download();
  for (int i = 0; i < n; ++i) {
    if (done[i] != 0 && done[i] != 1) {
      kit::fail("done[" + std::to_string(i) + "] is " + std::to_string(done[i]) +
                "; expected 1 or 0.");
      return;
    }
    balance[bank.from[i]] -= done[i] * bank.amount[i];
    balance[bank.to[i]] += done[i] * bank.amount[i];
  }
  if (expected != nullptr) kit::expect_equal(d_done, *expected);
  kit::expect_equal(d_balance, balance);
  for (const int value : balance) {
    if (value < 0 && bank.start >= 0) {
      kit::fail("An account ends at " + std::to_string(value) +
                ": money left it that was not there when the mutex was owned.");
      return;
    }
  }
  expect_free(d_mutex);
}

Bank random_bank(int n, int accounts, int start) {
  Bank bank = {kit::random_ints(n, 0, accounts - 1), kit::random_ints(n, 1, accounts - 1),
               kit::random_ints(n, 0, 60), accounts, start};
  for (int i = 0; i < n; ++i) bank.to[i] = (bank.from[i] + bank.to[i]) % accounts;
  return bank;
}

}  // namespace

TEST(SpinLock, OneThreadGivesTheLockBack) {
  RecordProperty("todo", 2);
  check(Deposits{1, 1});
  check(Deposits{1, 3});
}

TEST(SpinLock, NothingIsPaidInAndNothingMoves) {
  RecordProperty("todo", 2);
  check(Deposits{0, 3});
  check(random_bank(0, 3, 100));
}

TEST(SpinLock, NoDepositIsLost) {
  RecordProperty("todo", 1);
  kit::for_each("deposits", std::vector<Deposits>{{64, 16}, {33, 2}, {200, 5}, {129, 1000}},
                [](const Deposits& d) { check(d); });
}

TEST(SpinLock, AWarpSharesOneLock) {
  RecordProperty("todo", 1);
  kit::for_each("deposits", std::vector<Deposits>{{32, 1}, {96, 1}},
                [](const Deposits& d) { check(d); });
}

TEST(SpinLock, TransfersKeepTheSum) {
  RecordProperty("todo", 3);
  kit::for_each("n", std::vector<int>{1, 32, 150, 257},
                [](int n) { check(random_bank(n, 11, 100)); });
}

TEST(SpinLock, TransfersInBothDirectionsEnd) {
  RecordProperty("todo", 3);
  // Lane 0 moves from account 0 to 1, lane 1 from 1 to 0, lane 2 from 0 to 1, ...
  Bank bank = random_bank(64, 2, 500);
  for (int i = 0; i < 64; ++i) {
    bank.from[i] = i % 2;
    bank.to[i] = 1 - i % 2;
  }
  check(bank);
}

TEST(SpinLock, MovesWhatIsExactlyThere) {
  RecordProperty("todo", 3);
  // Accounts in pairs, the first of each with 50: three of four transfers find enough.
  const int n = 80;
  Bank bank = {{}, {}, {}, 2 * n, 50};
  std::vector<int> expected;
  for (int i = 0; i < n; ++i) {
    bank.from.push_back(2 * i + i % 2);
    bank.to.push_back(2 * i + 1 - i % 2);
    bank.amount.push_back(i % 5 == 4 ? 0 : 48 + i % 4);  // nothing is always there
    expected.push_back(bank.amount.back() <= 50);
  }
  check(bank, &expected);
}

TEST(SpinLock, WhoHasEnoughIsServedHoweverManyCome) {
  RecordProperty("todo", 3);
  const std::vector<int> all(64, 1);
  check(random_bank(64, 4, 100000), &all);  // no account can run out
}

TEST(SpinLock, AnAccountInDebtDoesNotHaveNothing) {
  RecordProperty("todo", 3);
  const int n = 40;
  Bank bank = {{}, {}, {}, 2 * n, -10};
  for (int i = 0; i < n; ++i) {
    bank.from.push_back(2 * i);
    bank.to.push_back(2 * i + 1);
    bank.amount.push_back(i % 3);
  }
  const std::vector<int> none(n, 0);
  check(bank, &none);
}
