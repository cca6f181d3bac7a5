// SPDX-License-Identifier: Apache-2.0
#pragma once

// Marks what the shared library shows; all else is hidden. The build defines CUGRAFT_BUILDING while
// it compiles the library, and CUGRAFT_STATIC for a static one, for its users too.
#if defined(CUGRAFT_STATIC)
#define CUGRAFT_API
#elif defined(_WIN32) && defined(CUGRAFT_BUILDING)
#define CUGRAFT_API __declspec(dllexport)
#elif defined(_WIN32)
#define CUGRAFT_API __declspec(dllimport)
#else
#define CUGRAFT_API __attribute__((visibility("default")))
#endif
