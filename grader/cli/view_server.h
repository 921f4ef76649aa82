// Offers one page to the browser of this machine, and a number that grows when it is made again.
#ifndef WARPLINGS_CLI_VIEW_SERVER_H_
#define WARPLINGS_CLI_VIEW_SERVER_H_

#include <string>

#include "cli/process/stream.h"

namespace grade {

class PageServer {
 public:
  // Listens on 127.0.0.1, at `port` or, where that is taken, at any that is free. Throws
  // std::system_error.
  explicit PageServer(int port);

  int fd() const { return listener_.get(); }  // readable: somebody asks
  int port() const { return port_; }
  void show(std::string page);
  void answer();  // one request

 private:
  Descriptor listener_;
  int port_ = 0;
  std::string page_;
  int version_ = 0;
};

}  // namespace grade
#endif  // WARPLINGS_CLI_VIEW_SERVER_H_
