# What lies where, in the build tree and once installed. The build tree has the installed tree's shape (bin, include, lib), so
# that oshcc and the lab find everything by the same rule in both.

# ---- compiler wrappers and pkg-config, in the build tree too ----
# What follows the default compiler: by which names MPIs have such a one.
set(executable FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
function(wattle_wrapper WTL_WRAPPER WTL_LANGUAGE WTL_COMPILER_VARIABLE WTL_DEFAULT_COMPILER)
  string(JOIN " " WTL_MPI_COMPILERS ${ARGN})
  configure_file(${CMAKE_SOURCE_DIR}/cmake/oshcc.in ${CMAKE_BINARY_DIR}/bin/${WTL_WRAPPER} @ONLY ${executable})
endfunction()
wattle_wrapper(oshcc C OSHCC_CC cc mpicc mpicc.openmpi mpicc.mpich)
wattle_wrapper(oshc++ C++ OSHCXX_CXX c++ mpicxx mpicxx.openmpi mpicxx.mpich)
configure_file(${CMAKE_SOURCE_DIR}/cmake/oshfort.in ${CMAKE_BINARY_DIR}/bin/oshfort COPYONLY ${executable})
configure_file(${CMAKE_SOURCE_DIR}/src/power/sensor/wattle_redfish.py ${CMAKE_BINARY_DIR}/bin/wattle-redfish COPYONLY ${executable})
foreach(name oshcxx oshCC) # Open MPI's names too: a Makefile that calls them must not find another library's in PATH
  file(CREATE_LINK oshc++ ${CMAKE_BINARY_DIR}/bin/${name} SYMBOLIC)
endforeach()
configure_file(${CMAKE_SOURCE_DIR}/include/wattle.h ${CMAKE_BINARY_DIR}/include/wattle.h COPYONLY)
configure_file(${CMAKE_SOURCE_DIR}/include/wattle_sim.h ${CMAKE_BINARY_DIR}/include/wattle_sim.h COPYONLY)
foreach(header armci.h armcix.h message.h mp3.h)
  configure_file(${CMAKE_SOURCE_DIR}/include/${header} ${CMAKE_BINARY_DIR}/include/${header} COPYONLY)
endforeach()
foreach(name wattle wattle-shmem armci)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/${name}.pc.in ${CMAKE_BINARY_DIR}/lib/pkgconfig/${name}.pc @ONLY)
endforeach()

include(CMakePackageConfigHelpers)
configure_file(${CMAKE_SOURCE_DIR}/cmake/WattleConfig.cmake.in ${CMAKE_BINARY_DIR}/lib/cmake/Wattle/WattleConfig.cmake COPYONLY)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/lib/cmake/Wattle/WattleConfigVersion.cmake COMPATIBILITY SameMinorVersion)

# A build with PEs as threads is for the tests alone.
if(WTL_THREADS)
  return()
endif()

# ---- the installed tree ----
install(TARGETS wattle wattle-shmem ${WTL_MODULES} armci armci-static LIBRARY DESTINATION lib ARCHIVE DESTINATION lib)
install(TARGETS oshrun wattle-info wattle-meter wattle-profiles wattle-calibrate wattle-clock-guard wattle-clock-repair wattle-bench-patterns wattle-bench-am wattle-bench-network
  RUNTIME DESTINATION bin)
set(wrappers oshcc oshc++ oshcxx oshCC oshfort)
list(TRANSFORM wrappers PREPEND ${CMAKE_BINARY_DIR}/bin/)
install(PROGRAMS ${wrappers} ${CMAKE_BINARY_DIR}/bin/wattle-redfish DESTINATION bin)
# oshrun puts this folder into the search path of programs (src/launch/runtime_path.h). A wheel would have copies in place of the links, which
# find no modules beside them, so it has no such folder.
if(NOT SKBUILD)
  set(runtime ${CMAKE_BINARY_DIR}/installed/runtime)
  file(MAKE_DIRECTORY ${runtime})
  foreach(library wattle wattle-shmem armci)
    file(CREATE_LINK ../../lib${library}.so.0 ${runtime}/lib${library}.so.0 SYMBOLIC)
  endforeach()
  install(DIRECTORY ${runtime} DESTINATION lib/wattle)
endif()
install(FILES ${CMAKE_SOURCE_DIR}/packaging/modulefile DESTINATION share/modulefiles/wattle RENAME ${PROJECT_VERSION})
install(FILES ${CMAKE_SOURCE_DIR}/include/wattle.h ${CMAKE_SOURCE_DIR}/include/wattle_sim.h ${CMAKE_BINARY_DIR}/include/shmem.h ${CMAKE_BINARY_DIR}/include/shmemx.h
  ${CMAKE_BINARY_DIR}/include/pshmem.h ${CMAKE_BINARY_DIR}/include/pshmemx.h
  ${CMAKE_SOURCE_DIR}/include/armci.h ${CMAKE_SOURCE_DIR}/include/armcix.h ${CMAKE_SOURCE_DIR}/include/message.h
  ${CMAKE_SOURCE_DIR}/include/mp3.h DESTINATION include)
install(DIRECTORY ${CMAKE_BINARY_DIR}/include/mpp DESTINATION include)
install(FILES ${CMAKE_BINARY_DIR}/lib/pkgconfig/wattle.pc ${CMAKE_BINARY_DIR}/lib/pkgconfig/wattle-shmem.pc ${CMAKE_BINARY_DIR}/lib/pkgconfig/armci.pc
  DESTINATION lib/pkgconfig)
install(DIRECTORY ${CMAKE_BINARY_DIR}/lib/cmake/Wattle DESTINATION lib/cmake)
install(DIRECTORY ${CMAKE_BINARY_DIR}/pages/man/ DESTINATION share/man)
install(DIRECTORY ${CMAKE_BINARY_DIR}/pages/html/ DESTINATION share/doc/wattle/api)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples/outside DESTINATION share/wattle/examples)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/machines/ DESTINATION share/wattle/machines PATTERN measured EXCLUDE)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/bench/ DESTINATION share/wattle/bench FILES_MATCHING PATTERN "*.c" PATTERN "*.h")
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples/ DESTINATION share/wattle/examples
  FILES_MATCHING PATTERN "*.c" PATTERN "*.cc" PATTERN "*.h" PATTERN "README.md")
install(DIRECTORY ${CMAKE_SOURCE_DIR}/apps/ DESTINATION share/wattle/apps
  FILES_MATCHING PATTERN "*.c" PATTERN "*.h" PATTERN "*.txt" PATTERN "CMakeLists.txt" EXCLUDE)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs/ DESTINATION share/doc/wattle)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/CHANGELOG.md ${CMAKE_SOURCE_DIR}/LICENSE
  DESTINATION share/doc/wattle)

# The lab. `pip install` puts it where Python looks; here it gets its own environment, which tools/install makes.
if(NOT SKBUILD)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/python/wattle DESTINATION share/wattle/python PATTERN "__pycache__" EXCLUDE)
  install(PROGRAMS ${CMAKE_SOURCE_DIR}/cmake/wattle.in DESTINATION bin RENAME wattle)
  file(GLOB requirements ${CMAKE_SOURCE_DIR}/requirements.txt ${CMAKE_SOURCE_DIR}/requirements-core.txt) # the first names the second
  install(FILES ${requirements} DESTINATION share/wattle)
endif()

include(${CMAKE_SOURCE_DIR}/cmake/Compat.cmake)
