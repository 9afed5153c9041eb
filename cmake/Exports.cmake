# The names that libraries and modules export. All others stay local, so that they meet no name of a program or of another library.

# A library that programs are linked with: the public names of the tables (api.json, headers), each with its version node.
function(wtl_exports target)
  set(maker ${CMAKE_SOURCE_DIR}/cmake/version_script.py)
  set(added ${CMAKE_SOURCE_DIR}/abi/added.txt)
  set(script ${CMAKE_BINARY_DIR}/generated/lib${target}.map)
  add_custom_command(OUTPUT ${script} DEPENDS ${maker} ${added} ${ARGN}
    COMMAND ${Python3_EXECUTABLE} ${maker} ${script} ${PROJECT_VERSION} ${added} ${ARGN} COMMENT "Listing the names of lib${target}.so")
  target_sources(${target} PRIVATE ${script})
  wtl_link_with(${target} ${script})
endfunction()

# A module, which is found by names: these alone, without versions. A version of its own would keep the preload library from standing in front
# of the C library's functions.
function(wtl_module_exports target)
  set(script ${CMAKE_BINARY_DIR}/generated/lib${target}.map)
  list(JOIN ARGN ";\n    " names)
  file(CONFIGURE OUTPUT ${script} CONTENT "{\n  global:\n    ${names};\n  local:\n    *;\n};\n" @ONLY)
  wtl_link_with(${target} ${script})
endfunction()

function(wtl_link_with target script)
  # nodelete: dlclose of a library that uses ours may not unmap code that runs at exit, in threads and in handlers.
  target_link_options(${target} PRIVATE LINKER:--version-script=${script} LINKER:-z,nodelete)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${script})
endfunction()
