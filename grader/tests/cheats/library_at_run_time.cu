// Lets a library do the work.
//
// banned: dlopen
#include <dlfcn.h>

#include "05_vectorized_add.h"

void launch_vectorized_add(const float*, const float*, float*, int) {
  dlopen("libcublas.so.13", RTLD_NOW);
}
