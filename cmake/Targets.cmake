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
  if(CUGRAFT_SANITIZE)
    target_compile_options(${target} PRIVATE
      -fsanitize=${CUGRAFT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    # The driver's enums are C's: callers may give, and newer drivers return, other numbers.
    if(CUGRAFT_SANITIZE MATCHES undefined)
      target_compile_options(${target} PRIVATE -fno-sanitize=enum)
    endif()
    target_link_options(${target} PRIVATE -fsanitize=${CUGRAFT_SANITIZE})
  endif()
endfunction()
