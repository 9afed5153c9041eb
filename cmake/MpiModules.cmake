# For each binary interface of MPI: a module of boot and network by MPI (libwattle-boot-mpi-NAME.so) and one of the preload library
# (libwattle-mpi-NAME.so). The one for the standard interface of MPI 5 (abi) is always built. Those for Open MPI and MPICH need the header of such an
# MPI, found by its compiler wrapper. -DWTL_MPICC="/path/to/mpicc;..." names wrappers beside, and before, those in PATH. No module is linked with an
# MPI: the MPI of the process serves it, of whichever version. libwattle-load-mpi-NAME.so is empty, and loads the MPI of the wrapper.
set(WTL_MPICC "" CACHE STRING "MPI compiler wrappers to build boot modules for, separated by semicolons")

# The words of the wrapper's command that tell where headers and libraries are; none where mpi.h is missing.
function(wtl_mpi_flags wrapper compile link interface)
  set(${interface} "" PARENT_SCOPE)
  execute_process(COMMAND ${wrapper} -show OUTPUT_VARIABLE shown ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    return()
  endif()
  separate_arguments(words UNIX_COMMAND "${shown}")
  list(REMOVE_AT words 0) # the compiler
  set(includes ${words})
  list(FILTER includes INCLUDE REGEX "^-[ID]")
  list(FILTER words INCLUDE REGEX "^(-L|-l|-Wl,|/).*")
  set(${compile} "${includes}" PARENT_SCOPE)
  set(${link} "${words}" PARENT_SCOPE)
  execute_process(COMMAND ${CMAKE_C_COMPILER} ${includes} -E -dM -include mpi.h -x c /dev/null
    OUTPUT_VARIABLE macros ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    return()
  elseif(macros MATCHES "#define OPEN_MPI ")
    set(${interface} openmpi PARENT_SCOPE)
  elseif(macros MATCHES "#define (MPICH_VERSION|MPICH_NUMVERSION|I_MPI_VERSION) ")
    set(${interface} mpich PARENT_SCOPE)
  endif()
endfunction()

set(wrappers ${WTL_MPICC})
foreach(name mpicc.openmpi mpicc.mpich mpicc)
  find_program(WTL_FOUND_${name} ${name})
  mark_as_advanced(WTL_FOUND_${name})
  if(WTL_FOUND_${name})
    list(APPEND wrappers ${WTL_FOUND_${name}})
  endif()
endforeach()
if(WTL_SANITIZE) # no MPI is built with one, and no test of these builds loads a module
  return()
endif()

# The preload library itself, which needs no MPI, and what is made from the table of MPI calls.
file(GLOB_RECURSE MPI_TEMPLATES CONFIGURE_DEPENDS mpi/templates/*.j2)
set(MPI_GENERATORS ${CMAKE_CURRENT_SOURCE_DIR}/mpi/generate.py ${CMAKE_CURRENT_SOURCE_DIR}/mpi/calls.toml ${C_TEMPLATES} ${MPI_TEMPLATES})
set(MPI_GENERATED ${CMAKE_BINARY_DIR}/generated/mpi_calls.h ${CMAKE_BINARY_DIR}/generated/mpi_stubs.c
    ${CMAKE_BINARY_DIR}/generated/mpi_wrappers.c ${CMAKE_BINARY_DIR}/generated/mpi_own_names.h ${CMAKE_BINARY_DIR}/generated/mpi_abi_calls.h ${CMAKE_BINARY_DIR}/generated/mpi_calls.json)
add_custom_command(OUTPUT ${MPI_GENERATED}
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/mpi/generate.py ${CMAKE_CURRENT_SOURCE_DIR}/mpi/calls.toml ${CMAKE_BINARY_DIR}
  COMMAND ${CMAKE_COMMAND} -E touch ${MPI_GENERATED}
  DEPENDS ${MPI_GENERATORS} COMMENT "Generating the MPI front end from src/mpi/calls.toml")
add_custom_target(mpi_generated DEPENDS ${MPI_GENERATED})
set_source_files_properties(${MPI_GENERATED} PROPERTIES COMPILE_OPTIONS "${WTL_AS_GENERATED}")
add_library(wattle-mpi MODULE mpi/preload.c mpi/newer_names.c base/loaded_mpi.c base/sigpipe.c base/region_mark.c base/call_slot.c base/nvtx_injection.c ${CMAKE_BINARY_DIR}/generated/mpi_stubs.c)
add_dependencies(wattle-mpi mpi_generated)
target_compile_definitions(wattle-mpi PRIVATE _GNU_SOURCE WTL_VERSION="${PROJECT_VERSION}")
target_link_libraries(wattle-mpi PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
wtl_module_exports(wattle-mpi MPI_* MPIX_* PMPI_* PMPIX_* mpi_* wtl_pmpi_* wtl_pmpix_* sched_yield InitializeInjectionNvtx2)

# Two libraries that need each other (mpi/load_order.c). The first is linked with an empty one of the name of the second.
add_library(wattle-mpi-name SHARED mpi/load_order.c)
set_target_properties(wattle-mpi-name PROPERTIES OUTPUT_NAME wattle-mpi LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/generated/names)
add_library(wattle-mpi_order MODULE mpi/load_order.c)
target_link_libraries(wattle-mpi_order PRIVATE wattle-mpi-name)
target_link_libraries(wattle-mpi PRIVATE $<TARGET_FILE:wattle-mpi_order>)
add_dependencies(wattle-mpi wattle-mpi_order)
foreach(target wattle-mpi wattle-mpi_order)
  target_link_options(${target} PRIVATE LINKER:--no-as-needed)
  set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
endforeach()
install(TARGETS wattle-mpi wattle-mpi_order LIBRARY DESTINATION lib)

# The rooms that include no mpi.h are compiled once for all modules.
file(GLOB GUEST_SOURCES CONFIGURE_DEPENDS record/*.c wait/*.c govern/*.c profile/*.c)
add_library(guest-objects OBJECT ${GUEST_SOURCES} node/ancestor.c node/process.c node/stale_files.c node/cores.c node/arena.c)
target_compile_definitions(guest-objects PRIVATE _GNU_SOURCE WTL_VERSION="${PROJECT_VERSION}")
set_target_properties(guest-objects PROPERTIES C_VISIBILITY_PRESET hidden)
file(GLOB MPI_SOURCES CONFIGURE_DEPENDS mpi/*.c)
list(FILTER MPI_SOURCES EXCLUDE REGEX "mpi/(preload|newer_names|load_order|simulated)\\.c$")
set_source_files_properties(${CMAKE_BINARY_DIR}/generated/mpi_wrappers.c ${CMAKE_BINARY_DIR}/generated/mpi_stubs.c PROPERTIES GENERATED ON)

# A module of Wattle. Calls of a newer MPI than the process has are bound when they are made, which is never.
function(wtl_mpi_module name compile)
  add_library(${name} MODULE ${ARGN})
  add_dependencies(${name} mpi_generated)
  target_compile_definitions(${name} PRIVATE _GNU_SOURCE WTL_VERSION="${PROJECT_VERSION}")
  string(REGEX REPLACE "(^|;)-I" "\\1-isystem" compile "${compile}") # warnings in its header are not ours
  target_compile_options(${name} PRIVATE ${compile})
  target_include_directories(${name} PRIVATE ${CMAKE_BINARY_DIR}/generated)
  target_link_libraries(${name} PRIVATE wattle Threads::Threads m ${CMAKE_DL_LIBS})
  target_link_options(${name} PRIVATE -Wl,-z,lazy)
  install(TARGETS ${name} LIBRARY DESTINATION lib)
endfunction()

function(wtl_mpi_modules interface compile)
  wtl_mpi_module(wattle-boot-mpi-${interface} "${compile}" node/boot_mpi_module.c fabric/mpi/transport_mpi.c)
  wtl_module_exports(wattle-boot-mpi-${interface} wtl_mpi_module wtl_transport_mpi)
  wtl_mpi_module(wattle-mpi-${interface} "${compile}" ${MPI_SOURCES} ${CMAKE_BINARY_DIR}/generated/mpi_wrappers.c $<TARGET_OBJECTS:guest-objects>)
  target_compile_options(wattle-mpi-${interface} PRIVATE "SHELL:-include ${CMAKE_BINARY_DIR}/generated/mpi_own_names.h")
  set_target_properties(wattle-mpi-${interface} PROPERTIES C_VISIBILITY_PRESET hidden INSTALL_RPATH "$ORIGIN")
  wtl_module_exports(wattle-mpi-${interface} wtl_mpi_module)
endfunction()

wtl_mpi_modules(abi -I${CMAKE_CURRENT_SOURCE_DIR}/mpi/abi)
foreach(wrapper IN LISTS wrappers)
  wtl_mpi_flags(${wrapper} compile link interface)
  if(NOT interface)
    message(STATUS "MPI: ${wrapper} has no mpi.h of Open MPI or MPICH")
  elseif(NOT TARGET wattle-boot-mpi-${interface})
    message(STATUS "MPI: modules for ${interface}, by ${wrapper}")
    wtl_mpi_modules(${interface} "${compile}")
    file(WRITE ${CMAKE_BINARY_DIR}/generated/empty.c "")
    add_library(wattle-load-mpi-${interface} MODULE ${CMAKE_BINARY_DIR}/generated/empty.c)
    target_link_libraries(wattle-load-mpi-${interface} PRIVATE -Wl,--no-as-needed ${link})
    set_target_properties(wattle-load-mpi-${interface} PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
    install(TARGETS wattle-load-mpi-${interface} LIBRARY DESTINATION lib)
  endif()
endforeach()
