# Simulation: the simulator, and the runtime as an archive that `oshcc --sim` links into a program (docs/simulation.md). Needs
# SimGrid (Debian: libsimgrid-dev), and is left out without it.
include(CheckCXXCompilerFlag)
option(WTL_SIMULATION "Build the simulator where SimGrid is found" ON)
if(NOT WTL_SIMULATION)
  message(STATUS "Simulation: left out (WTL_SIMULATION=OFF), so oshcc --sim and wattle sim are unavailable")
  return()
endif()
find_path(SIMGRID_INCLUDE simgrid/s4u.hpp)
find_library(SIMGRID_LIBRARY simgrid)
mark_as_advanced(SIMGRID_INCLUDE SIMGRID_LIBRARY)
if(NOT SIMGRID_LIBRARY OR NOT EXISTS ${SIMGRID_INCLUDE}/smpi/smpi.h)
  message(STATUS "Simulation: no SimGrid (libsimgrid-dev), so oshcc --sim and wattle sim are unavailable")
  return()
elseif(NOT TARGET PkgConfig::CYAML)
  message(STATUS "Simulation: no libcyaml (libcyaml-dev), so oshcc --sim and wattle sim are unavailable")
  return()
endif()
# Releases of SimGrid change its C++ interface. One that this source does not fit costs the simulation, and not the build.
set(SIMGRID_USER ${CMAKE_CURRENT_SOURCE_DIR}/sim/companions.cc)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${SIMGRID_USER})
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
try_compile(SIMGRID_FITS ${CMAKE_BINARY_DIR}/simgrid SOURCES ${SIMGRID_USER} CXX_STANDARD 17 COMPILE_DEFINITIONS -D_GNU_SOURCE
  CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${CMAKE_CURRENT_SOURCE_DIR};${CMAKE_SOURCE_DIR}/include;${SIMGRID_INCLUDE};${Boost_INCLUDE_DIRS}"
  OUTPUT_VARIABLE SIMGRID_ERRORS)
unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
if(NOT SIMGRID_FITS)
  message(WARNING "Simulation: Wattle does not compile with this SimGrid, so oshcc --sim and wattle sim are unavailable:\n${SIMGRID_ERRORS}")
  return()
endif()

file(GLOB SIMULATOR_SOURCES CONFIGURE_DEPENDS sim/*.cc)
add_executable(wattle-simulator ${SIMULATOR_SOURCES})
target_compile_definitions(wattle-simulator PRIVATE _GNU_SOURCE)
target_include_directories(wattle-simulator SYSTEM PRIVATE ${SIMGRID_INCLUDE} ${Boost_INCLUDE_DIRS})
target_link_libraries(wattle-simulator PRIVATE ${SIMGRID_LIBRARY} ${CMAKE_DL_LIBS})
# Copies of the program find the simulator's functions in it, and none of its others.
target_link_options(wattle-simulator PRIVATE -Wl,--dynamic-list=${CMAKE_CURRENT_SOURCE_DIR}/sim/simulator.symbols)

file(GLOB SIM_SOURCES CONFIGURE_DEPENDS os/os_simulation.c base/*.c power/*.c power/*/*.c power/machine/yaml/*.c energy/*.c ${RUNTIME_GLOBS} fabric/sim/*.c pgas/*.cc shmem/*.c)
# What is replaced (name_sim.c, name_simgrid.c), or is of a machine that is no simulation.
list(FILTER SIM_SOURCES EXCLUDE REGEX "(boot_(kinds|pmix.*|mpi.*|single)|_threads|power/(sensor/counts|meters|knob/knobs|machine/machine_module)|fabric/transport)\\.c$")
add_library(wattle-sim STATIC ${SIM_SOURCES} sim/libc_calls.c sim/libc_state.c sim/recent.c ${SHMEM_GENERATED} ${CPUS_GENERATED} $<TARGET_OBJECTS:wattle-sim-armci>)
# ARMCI, in the same archive. What both front ends name alike has another name here.
file(GLOB SIM_ARMCI_SOURCES CONFIGURE_DEPENDS armci/*.c)
add_library(wattle-sim-armci OBJECT ${SIM_ARMCI_SOURCES})
target_compile_definitions(wattle-sim-armci PRIVATE wtl_front_refuse_uninitialised=wtl_refuse_uninitialised_armci
  $<TARGET_PROPERTY:wattle-sim,COMPILE_DEFINITIONS>)
target_compile_options(wattle-sim-armci PRIVATE $<TARGET_PROPERTY:wattle-sim,COMPILE_OPTIONS>)
target_include_directories(wattle-sim PRIVATE ${CMAKE_BINARY_DIR}/generated)
target_include_directories(wattle-sim SYSTEM PRIVATE ${Boost_INCLUDE_DIRS})
target_compile_definitions(wattle-sim PRIVATE _GNU_SOURCE WTL_SIM always_inline= WTL_VERSION="${PROJECT_VERSION}"
  WTL_MACHINES_DIR="${CMAKE_SOURCE_DIR}/machines:${CMAKE_INSTALL_PREFIX}/share/wattle/machines")
check_cxx_compiler_flag(-fno-gnu-unique HAS_NO_GNU_UNIQUE)
target_compile_options(wattle-sim PRIVATE $<$<BOOL:${HAS_NO_GNU_UNIQUE}>:-fno-gnu-unique> -include ${CMAKE_CURRENT_SOURCE_DIR}/sim/uncounted.h)
# Simulated time has nothing of the runtime's own instructions, and the simulator takes most of the real time: -O1, and no more is inlined than
# that says (always_inline above), in a quarter of the time.
target_compile_options(wattle-sim PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
target_link_libraries(wattle-sim PRIVATE PkgConfig::CYAML)
set_target_properties(wattle-sim PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
add_dependencies(wattle-sim shmem_generated cpus_generated)

# MPI programs: src/mpi against SimGrid's MPI, in an archive of its own. Its compiled copy of the runtime is wattle-sim's.
set(SIM_MPI_GENERATED ${CMAKE_BINARY_DIR}/generated/simulated/mpi.h ${CMAKE_BINARY_DIR}/generated/simulated/mpi_calls.c)
add_custom_command(OUTPUT ${SIM_MPI_GENERATED}
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/mpi/generate_sim.py ${CMAKE_CURRENT_SOURCE_DIR}/mpi/calls.toml
          ${SIMGRID_INCLUDE}/smpi/smpi.h ${SIMGRID_LIBRARY} ${CMAKE_BINARY_DIR}
  COMMAND ${CMAKE_COMMAND} -E touch ${SIM_MPI_GENERATED}
  DEPENDS mpi/generate_sim.py ${MPI_GENERATORS} COMMENT "Generating the MPI front end of simulated programs")
set_source_files_properties(${SIM_MPI_GENERATED} PROPERTIES COMPILE_OPTIONS "${WTL_AS_GENERATED}")
add_library(wattle-sim-mpi STATIC mpi/message_bytes.c mpi/world_ranks.c mpi/request_wait.c mpi/mpi_governed.c mpi/program_tests.c mpi/rank.c
  mpi/simulated.c ${SIM_MPI_GENERATED})
add_dependencies(wattle-sim-mpi mpi_generated)
target_compile_definitions(wattle-sim-mpi PRIVATE $<TARGET_PROPERTY:wattle-sim,COMPILE_DEFINITIONS>)
target_compile_options(wattle-sim-mpi PRIVATE $<TARGET_PROPERTY:wattle-sim,COMPILE_OPTIONS>)
target_include_directories(wattle-sim-mpi BEFORE PRIVATE ${CMAKE_BINARY_DIR}/generated/simulated)
target_include_directories(wattle-sim-mpi PRIVATE ${CMAKE_BINARY_DIR}/generated)
target_include_directories(wattle-sim-mpi SYSTEM PRIVATE ${SIMGRID_INCLUDE})
set_target_properties(wattle-sim-mpi PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
configure_file(${CMAKE_SOURCE_DIR}/include/simulated/mpi.h ${CMAKE_BINARY_DIR}/include/simulated/mpi.h COPYONLY)

# What a program is linked with, for oshcc: the C library's functions that the simulation has its own of (sim/libc_calls.c).
configure_file(${CMAKE_SOURCE_DIR}/cmake/simulated.link ${CMAKE_BINARY_DIR}/lib/wattle-simulated.link COPYONLY)
install(TARGETS wattle-simulator RUNTIME DESTINATION bin)
install(TARGETS wattle-sim wattle-sim-mpi ARCHIVE DESTINATION lib)
install(FILES ${CMAKE_SOURCE_DIR}/include/simulated/mpi.h DESTINATION include/simulated)
install(FILES ${CMAKE_BINARY_DIR}/lib/wattle-simulated.link DESTINATION lib)
