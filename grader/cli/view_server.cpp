#include "cli/view_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace grade {
namespace {

constexpr int kPatience = 500;  // milliseconds for a request to arrive
constexpr size_t kMostRequest = 8192;

// The head of a request; "" if it does not come.
std::string read_head(int fd) {
  std::string text;
  char buffer[1024];
  while (text.find("\r\n\r\n") == std::string::npos && text.size() < kMostRequest) {
    pollfd ready{fd, POLLIN, 0};
    if (::poll(&ready, 1, kPatience) <= 0) return "";
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n <= 0) return "";
    text.append(buffer, static_cast<size_t>(n));
  }
  return text;
}

// Another site must not read the page by a name that it lets point here.
bool is_for_this_machine(const std::string& head) {
  for (const char* host : {"\r\nHost: 127.0.0.1", "\r\nHost: localhost"}) {
    const size_t at = head.find(host);
    if (at == std::string::npos) continue;
    const char next = head[at + std::string(host).size()];
    return next == ':' || next == '\r';
  }
  return false;
}

void send(int fd, const char* status, const char* type, const std::string& body) {
  const std::string text = std::string("HTTP/1.1 ") + status + "\r\nContent-Type: " + type +
                           "; charset=utf-8\r\nContent-Length: " + std::to_string(body.size()) +
                           "\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n" + body;
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::send(fd, text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // the browser went away
    done += static_cast<size_t>(n);
  }
}

}  // namespace

PageServer::PageServer(int port) : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const auto fail = [](const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
  };
  if (listener_.get() < 0) fail("cannot open a socket");
  const int on = 1;
  ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_.get(), any, sizeof address) != 0) {
    address.sin_port = 0;
    if (::bind(listener_.get(), any, sizeof address) != 0) fail("cannot take a port of 127.0.0.1");
  }
  socklen_t length = sizeof address;
  if (::listen(listener_.get(), 8) != 0 || ::getsockname(listener_.get(), any, &length) != 0) {
    fail("cannot listen on 127.0.0.1");
  }
  port_ = ntohs(address.sin_port);
}

void PageServer::show(std::string page) {
  page_ = std::move(page);
  ++version_;
}

void PageServer::answer() {
  const Descriptor client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (client.get() < 0) return;
  const std::string head = read_head(client.get());
  if (head.empty()) return;
  if (!is_for_this_machine(head)) {
    send(client.get(), "403 Forbidden", "text/plain", "for this machine only\n");
  } else if (head.rfind("GET / ", 0) == 0) {
    send(client.get(), "200 OK", "text/html", page_);
  } else if (head.rfind("GET /version ", 0) == 0) {
    send(client.get(), "200 OK", "text/plain", std::to_string(version_));
  } else {
    send(client.get(), "404 Not Found", "text/plain", "there is one page here: /\n");
  }
}

}  // namespace grade
