# SPDX-License-Identifier: Apache-2.0

# The project's own warnings; they never reach a user of the library.
function(cugraft_set_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual -Wold-style-cast
    -Wcast-align -Wcast-qual -Wunused -Wundef -Wvla -Wextra-semi -Wimplicit-fallthrough
    -Wmissing-declarations -Wno-missing-field-initializers
    $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local;-Wlogical-op;-Wduplicated-cond>
    $<$<CXX_COMPILER_ID:Clang>:-Wshadow>)
  # GCC 12 takes pieces of its own std::string for arrays.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE
      -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
  if(CUGRAFT_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()
