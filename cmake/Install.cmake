# SPDX-License-Identifier: Apache-2.0
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/cugraft)

install(TARGETS cugraft EXPORT cugraftTargets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/cugraft DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp")
install(EXPORT cugraftTargets NAMESPACE cugraft:: DESTINATION ${package_folder})

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(TARGET cugraft_cli)
  install(TARGETS cugraft_cli)
endif()
# A driver, not a library to link: it is installed, and never exported as a target.
if(TARGET cugraft_sim)
  install(TARGETS cugraft_sim)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/sim/include/cugraft_sim
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
endif()

# A static library leaves the linking of what it uses to its user.
get_target_property(kind cugraft TYPE)
set(CUGRAFT_IS_STATIC OFF)
if(kind STREQUAL "STATIC_LIBRARY")
  set(CUGRAFT_IS_STATIC ON)
endif()
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/cugraftConfig.cmake.in ${PROJECT_BINARY_DIR}/cugraftConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/cugraftConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cugraftConfig.cmake
              ${PROJECT_BINARY_DIR}/cugraftConfigVersion.cmake
        DESTINATION ${package_folder})
