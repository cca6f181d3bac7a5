// SPDX-License-Identifier: Apache-2.0
// The driver that the variable CUGRAFT_SIM_LIBRARY names, but its graph launches do nothing and say
// that they worked.
#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

#define CUGRAFT_TEST_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using version_function = int (*)(int*);
using lookup_function = int (*)(const char*, void**, int, unsigned long long, int*);

template <class Function>
Function real(const char* name) {
  static void* const handle = dlopen(std::getenv("CUGRAFT_SIM_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function>(dlsym(handle, name));
}

int launch_nothing(void*, void*) { return 0; }

}  // namespace

CUGRAFT_TEST_EXPORT int cuDriverGetVersion(int* version);
CUGRAFT_TEST_EXPORT int cuGetProcAddress_v2(const char* name, void** address, int version,
                                            unsigned long long flags, int* status);

int cuDriverGetVersion(int* version) {
  return real<version_function>("cuDriverGetVersion")(version);
}

int cuGetProcAddress_v2(const char* name, void** address, int version, unsigned long long flags,
                        int* status) {
  const int result =
      real<lookup_function>("cuGetProcAddress_v2")(name, address, version, flags, status);
  if (std::string_view(name) == "cuGraphLaunch")
    *address = reinterpret_cast<void*>(&launch_nothing);
  // A caller that asks for the lookup itself would go past this file with the answer.
  if (std::string_view(name) == "cuGetProcAddress")
    *address = reinterpret_cast<void*>(&cuGetProcAddress_v2);
  return result;
}
