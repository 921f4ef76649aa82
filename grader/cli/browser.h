// The browser of this machine.
#ifndef WARPLINGS_CLI_BROWSER_H_
#define WARPLINGS_CLI_BROWSER_H_

#include <string>

namespace grade {

bool is_in_path(const std::string& program);

// BROWSER, or what the desktop opens pages with; none where nobody sits before this machine's
// screen.
bool has_browser();
// Opens a file or an address there; false where there is no browser, or it did not start.
bool open_in_browser(const std::string& address);

}  // namespace grade
#endif  // WARPLINGS_CLI_BROWSER_H_
