// 10/08 Multi-process: what is given.
#include <unistd.h>

#include "08_multi_process.h"

// FNV-1a of the machine's name.
uint64_t host_id() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  uint64_t hash = 14695981039346656037u;
  for (const char* c = name; *c != '\0'; ++c) {
    hash = (hash ^ static_cast<unsigned char>(*c)) * 1099511628211u;
  }
  return hash;
}

void leave(Member* member) {
  if (member->comm != nullptr) ncclCommDestroy(member->comm);
  if (member->stream != nullptr) cudaStreamDestroy(member->stream);
  member->comm = nullptr;
  member->stream = nullptr;
}
