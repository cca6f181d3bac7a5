# SPDX-License-Identifier: Apache-2.0

# Adds the target `name`, which compiles every header below FOLDER as the first include of a file,
# twice over and before the headers named by BESIDE; and for each of those a file that includes it
# first and every header after it.
function(cugraft_add_header_checks name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER" "LIBRARIES;BESIDE")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${arg_FOLDER} ${arg_FOLDER}/*.hpp)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name})
  set(sources)
  foreach(header IN LISTS headers)
    cugraft_write_header_check(${folder}/alone/${header}.cpp ${header} ${header} ${arg_BESIDE})
  endforeach()
  if(NOT sources)
    return()
  endif()
  foreach(other IN LISTS arg_BESIDE)
    cugraft_write_header_check(${folder}/after-${other}.cpp ${other} ${headers})
  endforeach()
  add_library(${name} OBJECT ${sources})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_include_directories(${name} PRIVATE ${arg_FOLDER})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wpedantic -Werror -O0)
endfunction()

# Writes a file that includes the given headers in order, and adds it to `sources` of the caller.
macro(cugraft_write_header_check path)
  set(content)
  foreach(header IN ITEMS ${ARGN})
    string(APPEND content "#include <${header}>\n")
  endforeach()
  file(CONFIGURE OUTPUT ${path} CONTENT "${content}" @ONLY)
  list(APPEND sources ${path})
endmacro()
