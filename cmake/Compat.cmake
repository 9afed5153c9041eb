# The names by which build systems look for other OpenSHMEM libraries (docs/build-systems.md). They are installed by
# `make install COMPAT=on` alone, because they replace the files of such a library in the same PREFIX.
set(compat ${CMAKE_BINARY_DIR}/installed/compat)
file(MAKE_DIRECTORY ${compat}/bin ${compat}/lib)

# Libraries: Open MPI's, Sandia OpenSHMEM's and Cray's, and a name that some projects try first.
foreach(name oshmem sma openshmem)
  file(CREATE_LINK libwattle-shmem.so ${compat}/lib/lib${name}.so SYMBOLIC)
endforeach()
# An empty archive. Sandia OpenSHMEM has one of this name, which build scripts link (openshmem-sys); Wattle needs nothing of it.
file(WRITE ${compat}/lib/libpmi_simple.a "!<arch>\n")

function(wattle_compat_pc WTL_PC_NAME WTL_PC_LIBRARY)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/compat.pc.in ${compat}/lib/pkgconfig/${WTL_PC_NAME}.pc @ONLY)
endfunction()
foreach(name oshmem oshmem-c oshmem-cxx)
  wattle_compat_pc(${name} oshmem)
endforeach()
wattle_compat_pc(sandia-openshmem sma)

# Open MPI's further names of the wrappers and of the launcher.
function(wattle_compat_names target)
  foreach(name IN LISTS ARGN)
    file(CREATE_LINK ${target} ${compat}/bin/${name} SYMBOLIC)
  endforeach()
endfunction()
wattle_compat_names(oshcc shmemcc)
wattle_compat_names(oshc++ shmemc++ shmemcxx shmemCC)
wattle_compat_names(oshfort shmemfort)
wattle_compat_names(oshrun shmemrun)

install(DIRECTORY ${compat}/ DESTINATION . COMPONENT compat EXCLUDE_FROM_ALL)
