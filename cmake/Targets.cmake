# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/Warnings.cmake)

# What every target of the project is compiled with.
function(cugraft_set_defaults target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)
  cugraft_set_warnings(${target})
  if(CMAKE_UNITY_BUILD)  # files that are compiled as one see each other's names
    target_compile_options(${target} PRIVATE -Wno-shadow)
  endif()
  if(CUGRAFT_SANITIZE)
    target_compile_options(${target} PRIVATE
      -fsanitize=${CUGRAFT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    # The driver's enums are C's: callers may give, and newer drivers return, other numbers. And a
    # driver is called through types of ours, with the same layout and another name.
    if(CUGRAFT_SANITIZE MATCHES undefined)
      target_compile_options(${target} PRIVATE
        -fno-sanitize=enum $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
    endif()
    target_link_options(${target} PRIVATE -fsanitize=${CUGRAFT_SANITIZE})
  endif()
endfunction()

# Standard headers read once for TARGET, which are much of the time that its files take. A file
# includes what it uses all the same: as a subproject, and for `make lint`, nothing is precompiled.
# TARGETs after the first share what it read; their options must be the same.
function(cugraft_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "REUSE_FROM" "HEADERS")
  if(NOT PROJECT_IS_TOP_LEVEL)
    return()
  endif()
  if(arg_REUSE_FROM AND NOT target STREQUAL arg_REUSE_FROM)
    target_precompile_headers(${target} REUSE_FROM ${arg_REUSE_FROM})
    return()
  endif()
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <atomic> <cstdint> <functional> <map> <memory> <mutex> <optional> <span>
    <string> <string_view> <thread> <unordered_map> <utility> <variant> <vector> ${arg_HEADERS})
endfunction()
