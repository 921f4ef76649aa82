#include "nccl/remote.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace warplings::libraries {
namespace {

using Clock = std::chrono::steady_clock;

enum Type : uint32_t { kHello, kCollective, kSend, kTaken };

// What goes in front of the data of a message. A greeting has only the first four.
struct Header {
  uint32_t type = kHello;
  int32_t rank = 0, ranks = 0, process = 0;
  int32_t kind = 0, datatype = 0, reduction = 0, peer = 0;
  uint64_t count = 0, bytes = 0;
};

void append(std::string* out, const Header& header) {
  out->append(reinterpret_cast<const char*>(&header), sizeof header);
}

int new_socket() { return ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

// An abstract name: its first byte is 0.
socklen_t address_of(const std::string& name, sockaddr_un* address) {
  *address = {};
  address->sun_family = AF_UNIX;
  const size_t length = std::min(name.size(), sizeof address->sun_path - 1);
  std::memcpy(address->sun_path + 1, name.data(), length);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
}

std::string seconds_text(std::chrono::duration<double> time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", time.count());
  return text;
}

}  // namespace

std::chrono::duration<double> patience() {
  const char* text = std::getenv("GRADE_SIM_NCCL_SECONDS");
  const double seconds = text == nullptr ? 0 : std::atof(text);
  return std::chrono::duration<double>(seconds > 0 ? seconds : 10);
}

Remote::Remote(uint64_t id, int rank, int ranks)
    : id_(id), rank_(rank), ranks_(ranks), peers_(static_cast<size_t>(ranks)) {}

Remote::~Remote() {
  if (door_ >= 0) ::close(door_);
  for (const int fd : unnamed_) ::close(fd);
  for (const Peer& peer : peers_) {
    if (peer.fd >= 0) ::close(peer.fd);
  }
}

std::string Remote::name_of(int rank) const {
  return "warplings-nccl-" + std::to_string(::getuid()) + "-" + std::to_string(id_) + "-" +
         std::to_string(rank);
}

std::string Remote::open() {
  sockaddr_un address;
  const socklen_t length = address_of(name_of(rank_), &address);
  door_ = new_socket();
  if (door_ < 0) return std::string("has no socket: ") + std::strerror(errno) + ".";
  if (::bind(door_, reinterpret_cast<const sockaddr*>(&address), length) != 0) {
    return errno == EADDRINUSE
               ? "joins as rank " + std::to_string(rank_) +
                     ", and another process has joined as that rank already. Every process has a "
                     "rank of its own, from 0 to " +
                     std::to_string(ranks_ - 1) + "."
               : std::string("cannot listen: ") + std::strerror(errno) + ".";
  }
  ::listen(door_, ranks_);
  return "";
}

void Remote::call_below(const std::vector<bool>& here) {
  for (int rank = 0; rank < rank_; ++rank) {
    Peer& peer = peers_[static_cast<size_t>(rank)];
    if (peer.fd >= 0 || here[static_cast<size_t>(rank)]) continue;
    sockaddr_un address;
    const socklen_t length = address_of(name_of(rank), &address);
    const int fd = new_socket();
    if (fd < 0) return;
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), length) != 0) {
      ::close(fd);  // it does not listen yet
      continue;
    }
    peer.fd = fd;
    append(&peer.out, {kHello, rank_, ranks_, ::getpid()});
    flush(peer);
  }
}

void Remote::accept_above() {
  while (true) {
    const int fd = ::accept4(door_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    unnamed_.push_back(fd);
  }
}

// The first message of a connection that another rank has made.
std::string Remote::greet(int fd, const char* bytes, size_t size) {
  Header hello;
  if (size < sizeof hello) return "";
  std::memcpy(&hello, bytes, sizeof hello);
  if (hello.ranks == ranks_ && hello.rank > rank_ && hello.rank < ranks_) {
    Peer& peer = peers_[static_cast<size_t>(hello.rank)];
    peer.fd = fd;
    peer.greeted = true;
    peer.process = hello.process;
    append(&peer.out, {kHello, rank_, ranks_, ::getpid()});
    flush(peer);
    return "";
  }
  ::close(fd);
  return "joins " + std::to_string(ranks_) + " ranks, and rank " + std::to_string(hello.rank) +
         " (process " + std::to_string(hello.process) + ") joins " + std::to_string(hello.ranks) +
         " with the same id. All processes pass the same number of ranks.";
}

std::string Remote::meet(const std::vector<bool>& here) {
  call_below(here);
  accept_above();
  std::vector<int> still;
  std::string problem;
  for (const int fd : unnamed_) {
    char bytes[sizeof(Header)];
    const ssize_t got = ::recv(fd, bytes, sizeof bytes, MSG_PEEK);
    if (got == static_cast<ssize_t>(sizeof bytes)) {
      static_cast<void>(::recv(fd, bytes, sizeof bytes, 0));
      const std::string wrong = greet(fd, bytes, sizeof bytes);
      if (problem.empty()) problem = wrong;
    } else if (got == 0) {
      ::close(fd);
    } else {
      still.push_back(fd);
    }
  }
  unnamed_ = still;
  exchange(0);
  for (size_t rank = 0; rank < peers_.size(); ++rank) {
    if (!peers_[rank].gone || peers_[rank].greeted || !problem.empty()) continue;
    problem = "was turned away by rank " + std::to_string(rank) +
              ": do both pass the same number of ranks, here " + std::to_string(ranks_) + "?";
  }
  return problem;
}

int Remote::connected() const {
  return static_cast<int>(
      std::count_if(peers_.begin(), peers_.end(), [](const Peer& peer) { return peer.greeted; }));
}

std::string Remote::absent() const {
  std::string text;
  int count = 0;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (rank == rank_ || peers_[static_cast<size_t>(rank)].greeted) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(rank);
    ++count;
  }
  return (count == 1 ? "rank " : "ranks ") + text + " of " + std::to_string(ranks_);
}

void Remote::queue(int to, uint32_t type, const Operation& operation,
                   const std::vector<char>& data) {
  Header header;
  header.type = type;
  header.rank = rank_;
  header.kind = static_cast<int32_t>(operation.kind);
  header.datatype = operation.type;
  header.reduction = operation.reduction;
  header.peer = operation.peer;
  header.count = operation.count;
  header.bytes = data.size();
  Peer& peer = peers_[static_cast<size_t>(to)];
  append(&peer.out, header);
  peer.out.append(data.data(), data.size());
}

void Remote::flush(Peer& peer) {
  while (!peer.out.empty()) {
    const ssize_t sent = ::send(peer.fd, peer.out.data(), peer.out.size(), MSG_NOSIGNAL);
    if (sent < 0) {
      // Nobody reads any more; what it has sent before may still be there.
      if (errno != EAGAIN && errno != EINTR) peer.out.clear();
      return;
    }
    peer.out.erase(0, static_cast<size_t>(sent));
  }
}

void Remote::fill(Peer& peer) {
  char bytes[1 << 16];
  while (true) {
    const ssize_t got = ::recv(peer.fd, bytes, sizeof bytes, 0);
    if (got > 0) {
      peer.in.append(bytes, static_cast<size_t>(got));
      continue;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) peer.gone = true;
    return;
  }
}

void Remote::parse(int from, Peer& peer) {
  Header header;
  size_t at = 0;
  while (peer.in.size() - at >= sizeof header) {
    std::memcpy(&header, peer.in.data() + at, sizeof header);
    if (peer.in.size() - at < sizeof header + header.bytes) break;
    const char* const data = peer.in.data() + at + sizeof header;
    Message message;
    message.operation.kind = static_cast<Kind>(header.kind);
    message.operation.type = static_cast<ncclDataType_t>(header.datatype);
    message.operation.reduction = static_cast<ncclRedOp_t>(header.reduction);
    message.operation.peer = header.peer;
    message.operation.count = header.count;
    message.operation.rank = from;
    message.operation.ranks = ranks_;
    message.data.assign(data, data + header.bytes);
    at += sizeof header + header.bytes;
    if (header.type == kHello) {
      peer.greeted = true;
      peer.process = header.process;
    } else if (header.type == kTaken) {
      ++peer.taken;
    } else {
      (header.type == kSend ? peer.sends : peer.collectives).push_back(std::move(message));
    }
  }
  peer.in.erase(0, at);
}

void Remote::exchange(int milliseconds) {
  std::vector<pollfd> watched;
  std::vector<int> ranks;
  for (int rank = 0; rank < ranks_; ++rank) {
    const Peer& peer = peers_[static_cast<size_t>(rank)];
    if (peer.fd < 0 || peer.gone) continue;
    const short wanted = peer.out.empty() ? POLLIN : POLLIN | POLLOUT;
    watched.push_back({peer.fd, wanted, 0});
    ranks.push_back(rank);
  }
  if (::poll(watched.data(), watched.size(), milliseconds) <= 0) return;
  for (size_t i = 0; i < watched.size(); ++i) {
    Peer& peer = peers_[static_cast<size_t>(ranks[i])];
    if ((watched[i].revents & POLLOUT) != 0) flush(peer);
    if ((watched[i].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
    fill(peer);
    parse(ranks[i], peer);
  }
}

// Whether something has not come from that rank.
bool Remote::lacks(const std::vector<Operation>& operations, int rank) const {
  size_t collectives = 0, receives = 0, sends = 0;
  for (const Operation& o : operations) {
    if (!is_point_to_point(o.kind)) {
      ++collectives;
    } else if (o.peer == rank) {
      ++(o.kind == Kind::kSend ? sends : receives);
    }
  }
  const Peer& peer = peers_[static_cast<size_t>(rank)];
  return rank != rank_ && (peer.collectives.size() < collectives || peer.sends.size() < receives ||
                           peer.taken < sends);
}

bool Remote::is_complete(const std::vector<Operation>& operations) const {
  for (int rank = 0; rank < ranks_; ++rank) {
    const Peer& peer = peers_[static_cast<size_t>(rank)];
    if (lacks(operations, rank) || (!peer.gone && !peer.out.empty())) return false;
  }
  return true;
}

bool Remote::is_hopeless(const std::vector<Operation>& operations) const {
  for (int rank = 0; rank < ranks_; ++rank) {
    if (peers_[static_cast<size_t>(rank)].gone && lacks(operations, rank)) return true;
  }
  return false;
}

// A send that has found its receive here is answered, so that the sender can go on.
void Remote::answer(const std::vector<Operation>& operations, std::vector<size_t>* answered) {
  std::vector<size_t> receives(peers_.size());
  for (const Operation& o : operations) {
    if (o.kind == Kind::kReceive && o.peer != rank_) ++receives[static_cast<size_t>(o.peer)];
  }
  for (size_t rank = 0; rank < peers_.size(); ++rank) {
    const size_t found = std::min(receives[rank], peers_[rank].sends.size());
    for (; (*answered)[rank] < found; ++(*answered)[rank]) {
      queue(static_cast<int>(rank), kTaken, Operation(), {});
    }
  }
}

void Remote::perform(const std::vector<Operation>& operations) {
  if (state_ != ncclSuccess) return;
  for (const Operation& o : operations) {
    const std::vector<char> data = o.kind == Kind::kReceive ? std::vector<char>() : input_of(o);
    if (o.kind == Kind::kSend && o.peer != rank_) queue(o.peer, kSend, o, data);
    for (int to = 0; to < ranks_ && !is_point_to_point(o.kind); ++to) {
      if (to != rank_) queue(to, kCollective, o, data);
    }
  }
  const auto end = Clock::now() + patience();
  std::vector<size_t> answered(peers_.size());
  for (answer(operations, &answered); !is_complete(operations); answer(operations, &answered)) {
    if (is_hopeless(operations) || Clock::now() >= end) {
      give_up(operations);
      return;
    }
    constexpr int kMilliseconds = 50;  // then the clock is looked at
    exchange(kMilliseconds);
  }
  deliver(operations);
}

void Remote::deliver(const std::vector<Operation>& operations) {
  std::deque<std::vector<char>> to_myself;
  for (const Operation& o : operations) {
    if (o.kind == Kind::kSend && o.peer == rank_) to_myself.push_back(input_of(o));
    if (o.kind == Kind::kSend && o.peer != rank_) --peers_[static_cast<size_t>(o.peer)].taken;
  }
  for (const Operation& o : operations) {
    if (o.kind == Kind::kSend) continue;
    if (!is_point_to_point(o.kind)) {
      deliver_collective(o);
      continue;
    }
    std::vector<char> data;
    if (o.peer == rank_) {
      if (to_myself.empty()) continue;
      data = std::move(to_myself.front());
      to_myself.pop_front();
    } else {
      auto& sends = peers_[static_cast<size_t>(o.peer)].sends;
      data = std::move(sends.front().data);
      sends.pop_front();
    }
    const size_t room = o.looked_at_bytes();
    if (data.size() != room) {
      o.call.report("nccl-mismatch", "expects " + std::to_string(room) + " bytes from rank " +
                                         std::to_string(o.peer) + ", which sends " +
                                         std::to_string(data.size()) +
                                         ". Nothing was done; on a GPU it may hang.");
      state_ = ncclInvalidUsage;
      return;
    }
    output_to(o, data);
  }
}

void Remote::deliver_collective(const Operation& mine) {
  std::vector<std::vector<char>> inputs(peers_.size());
  for (int rank = 0; rank < ranks_; ++rank) {
    if (rank == rank_) {
      inputs[static_cast<size_t>(rank)] = input_of(mine);
      continue;
    }
    Peer& peer = peers_[static_cast<size_t>(rank)];
    Message message = std::move(peer.collectives.front());
    peer.collectives.pop_front();
    const std::string what = difference(mine, message.operation);
    if (!what.empty() && state_ == ncclSuccess) {
      mine.call.report("nccl-mismatch",
                       "of rank " + std::to_string(rank) + " (process " +
                           std::to_string(peer.process) + ") " + what + " than rank " +
                           std::to_string(rank_) +
                           ". Nothing was done; on a GPU it may hang or write anywhere. All ranks "
                           "make the same calls in the same order, with the same sizes and types.");
      state_ = ncclInvalidUsage;
    }
    inputs[static_cast<size_t>(rank)] = std::move(message.data);
  }
  if (state_ == ncclSuccess && mine.writes()) output_to(mine, combined(mine, inputs));
}

std::string Remote::what_of(int rank, const Operation& mine) const {
  const Peer& peer = peers_[static_cast<size_t>(rank)];
  const std::string who =
      "rank " + std::to_string(rank) + " (process " + std::to_string(peer.process) + ")";
  if (peer.gone) return who + " has ended, or has destroyed its communicator";
  const bool collective = !is_point_to_point(mine.kind);
  if (collective && !peer.sends.empty()) return who + " has called ncclSend instead";
  if (!collective && !peer.collectives.empty()) return who + " has called a collective instead";
  return who + " has not made this call within " + seconds_text(patience());
}

void Remote::give_up(const std::vector<Operation>& operations) {
  state_ = ncclInternalError;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (!lacks(operations, rank)) continue;
    const auto waiting = std::find_if(
        operations.begin(), operations.end(),
        [rank](const Operation& o) { return !is_point_to_point(o.kind) || o.peer == rank; });
    const bool gone = peers_[static_cast<size_t>(rank)].gone;
    waiting->call.report(
        gone ? "nccl-rank-gone" : "nccl-deadlock",
        "on rank " + std::to_string(rank_) + " waits in vain: " + what_of(rank, *waiting) +
            ". On a GPU the program hangs here. All ranks make the same calls in the same order; "
            "a send and a receive that cross belong into one group.");
    if (gone) state_ = ncclRemoteError;
    return;
  }
}

}  // namespace warplings::libraries
