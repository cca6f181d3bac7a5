# SPDX-License-Identifier: Apache-2.0

# Finds the headers of CUDA; no compiler or library of the toolkit is needed. The target
# `cugraft_cuda_headers` has them for those files of the project that see <cuda.h>.
set(CUGRAFT_CUDA_HEADERS "auto" CACHE STRING
    "CUDA headers: a folder, 'toolkit', a version such as 13.3 (from PyPI), or 'auto'")
set(CUGRAFT_CUDA_HEADERS_FALLBACK 13.3)

# The include folder of an installed toolkit, or an empty string.
function(cugraft_find_toolkit_headers result)
  find_program(nvcc nvcc NO_CACHE)
  if(nvcc)
    file(REAL_PATH ${nvcc} nvcc)
    cmake_path(GET nvcc PARENT_PATH nvcc_folder)
    cmake_path(GET nvcc_folder PARENT_PATH nvcc_root)
  endif()
  find_path(folder cuda.h NO_CACHE NO_DEFAULT_PATH PATH_SUFFIXES include
    PATHS ${CUDAToolkit_ROOT} $ENV{CUDAToolkit_ROOT} $ENV{CUDA_HOME} $ENV{CUDA_PATH} ${nvcc_root}
          /usr/local/cuda)
  if(NOT folder)
    set(folder "")
  endif()
  cmake_path(SET folder NORMALIZE "${folder}")
  string(REGEX REPLACE "/$" "" folder "${folder}")
  set(${result} "${folder}" PARENT_SCOPE)
endfunction()

# The include folder of NVIDIA's header package of `version`, fetched into the build once.
function(cugraft_fetch_headers version result)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  execute_process(
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/fetch_cuda_headers.py
            ${version} ${PROJECT_BINARY_DIR}/cuda-headers
    OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_VARIABLE error
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "No CUDA headers: ${error}")
  endif()
  set(${result} ${folder} PARENT_SCOPE)
endfunction()

function(cugraft_resolve_headers wanted result)
  if(wanted MATCHES "^[0-9]+\\.[0-9]+$")
    cugraft_fetch_headers(${wanted} folder)
  elseif(wanted STREQUAL "toolkit" OR wanted STREQUAL "auto")
    cugraft_find_toolkit_headers(folder)
    if(NOT folder AND wanted STREQUAL "auto")
      cugraft_fetch_headers(${CUGRAFT_CUDA_HEADERS_FALLBACK} folder)
    endif()
  else()
    set(folder "${wanted}")
  endif()
  if(NOT EXISTS "${folder}/cuda.h")
    message(FATAL_ERROR "CUGRAFT_CUDA_HEADERS=${wanted}: no cuda.h in '${folder}'")
  endif()
  set(${result} "${folder}" PARENT_SCOPE)
endfunction()

# As 13.3, where cuda.h says 13030.
function(cugraft_headers_version folder result)
  file(STRINGS ${folder}/cuda.h line REGEX "^#define CUDA_VERSION [0-9]+")
  string(REGEX MATCH "[0-9]+" number "${line}")
  math(EXPR major "${number} / 1000")
  math(EXPR minor "${number} % 1000 / 10")
  set(${result} ${major}.${minor} PARENT_SCOPE)
endfunction()

cugraft_resolve_headers(${CUGRAFT_CUDA_HEADERS} cugraft_cuda_include)
cugraft_headers_version(${cugraft_cuda_include} cugraft_cuda_version)
message(STATUS "cugraft: CUDA headers ${cugraft_cuda_version} from ${cugraft_cuda_include}")
if(cugraft_cuda_version VERSION_LESS 12.4)
  message(FATAL_ERROR "cugraft needs CUDA headers 12.4 or newer, found ${cugraft_cuda_version}; "
                      "set CUGRAFT_CUDA_HEADERS to a newer version, such as 13.3")
endif()
add_library(cugraft_cuda_headers INTERFACE)
target_include_directories(cugraft_cuda_headers SYSTEM INTERFACE ${cugraft_cuda_include})
