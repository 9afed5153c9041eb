# The first of the names of Open MPI's library and of Cray's and Sandia's; no hint but SHMEM_ROOT.
include(FindPackageHandleStandardArgs)
find_library(SHMEM_LIBRARY NAMES oshmem sma PATHS ${SHMEM_ROOT})
find_path(SHMEM_HEADERS shmem.h PATHS ${SHMEM_ROOT}/include)
find_package_handle_standard_args(SHMEM DEFAULT_MSG SHMEM_LIBRARY SHMEM_HEADERS)
if(SHMEM_FOUND)
  add_library(Space::shmem INTERFACE IMPORTED)
  set_target_properties(Space::shmem PROPERTIES INTERFACE_LINK_LIBRARIES ${SHMEM_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${SHMEM_HEADERS})
endif()
