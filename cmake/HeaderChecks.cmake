# SPDX-License-Identifier: Apache-2.0

# Adds the target `name`, which compiles every header below FOLDER as the first include of a file,
# twice over. For each header named by BESIDE, it compiles them before and after that one too.
function(cugraft_add_header_checks name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER" "LIBRARIES;BESIDE")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${arg_FOLDER} ${arg_FOLDER}/*.hpp)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name})
  set(sources)
  foreach(header IN LISTS headers)
    cugraft_write_header_check(${folder}/alone/${header}.cpp ${header} ${header})
    foreach(other IN LISTS arg_BESIDE)
      cugraft_write_header_check(${folder}/before-${other}/${header}.cpp ${header} ${other})
      cugraft_write_header_check(${folder}/after-${other}/${header}.cpp ${other} ${header})
    endforeach()
  endforeach()
  if(NOT sources)
    return()
  endif()
  add_library(${name} OBJECT ${sources})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_include_directories(${name} PRIVATE ${arg_FOLDER})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wpedantic -Werror -O0)
endfunction()

# Writes a file that includes `first` and `second`, and adds it to `sources` of the caller.
macro(cugraft_write_header_check path first second)
  file(CONFIGURE OUTPUT ${path} @ONLY
       CONTENT "#include <${first}>\n#include <${second}>\n")
  list(APPEND sources ${path})
endmacro()
