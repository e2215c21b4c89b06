# SPDX-License-Identifier: MIT
# An overlay port: it stands in the tree that it installs. libibverbs is the system's.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)
vcpkg_execute_required_process(
    COMMAND make install-headers "PREFIX=${CURRENT_PACKAGES_DIR}" "cmakedir=${CURRENT_PACKAGES_DIR}/share/rdmaez"
    WORKING_DIRECTORY "${SOURCE_PATH}" LOGNAME install-headers)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/share/doc")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
