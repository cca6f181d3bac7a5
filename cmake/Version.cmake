# SPDX-License-Identifier: Apache-2.0

# Reads the version from the one header that holds it.
function(cugraft_read_version result)
  set(header ${CMAKE_CURRENT_SOURCE_DIR}/include/cugraft/version.hpp)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
  file(READ ${header} text)
  foreach(part MAJOR MINOR PATCH)
    if(NOT text MATCHES "#define CUGRAFT_VERSION_${part} ([0-9]+)")
      message(FATAL_ERROR "${header} does not define CUGRAFT_VERSION_${part}")
    endif()
    list(APPEND numbers ${CMAKE_MATCH_1})
  endforeach()
  list(JOIN numbers "." version)
  set(${result} ${version} PARENT_SCOPE)
endfunction()
