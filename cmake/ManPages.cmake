# The man pages of the commands and of wattle.h, beside those of the routines (src/CMakeLists.txt). help2man makes pages of
# programs from their --help, where it is installed.
set(MAN ${CMAKE_BINARY_DIR}/pages/man)
set(GENERATE ${CMAKE_SOURCE_DIR}/tools/man_pages.py)
file(MAKE_DIRECTORY ${MAN}/man1)
set(MAN_PAGES ${MAN}/man3/wattle.h.3)
add_custom_command(OUTPUT ${MAN}/man3/wattle.h.3 DEPENDS ${GENERATE} ${CMAKE_SOURCE_DIR}/include/wattle.h
  COMMAND ${Python3_EXECUTABLE} ${GENERATE} header ${PROJECT_VERSION} ${MAN} COMMENT "Writing the page of wattle.h")

# The help of `wattle` needs the packages of the lab.
execute_process(COMMAND ${WTL_LAB_PYTHON} -c "import msgspec, polars, scipy, typer" RESULT_VARIABLE no_lab OUTPUT_QUIET ERROR_QUIET)
if(no_lab)
  message(STATUS "Man pages: ${WTL_LAB_PYTHON} has no packages of the lab, so there is no page of wattle")
else()
  file(GLOB_RECURSE LAB_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/wattle/cli.py ${CMAKE_SOURCE_DIR}/python/wattle/*/cli.py
    ${CMAKE_SOURCE_DIR}/python/wattle/*command.py ${CMAKE_SOURCE_DIR}/python/wattle/*options.py)
  add_custom_command(OUTPUT ${MAN}/man1/wattle.1 DEPENDS ${GENERATE} ${LAB_SOURCES}
    COMMAND ${WTL_LAB_PYTHON} -B ${GENERATE} command ${PROJECT_VERSION} ${MAN} COMMENT "Writing the page of wattle")
  list(APPEND MAN_PAGES ${MAN}/man1/wattle.1)
endif()

find_program(HELP2MAN help2man)
if(HELP2MAN)
  add_custom_command(OUTPUT ${MAN}/man1/oshrun.1 DEPENDS oshrun COMMENT "Writing the page of oshrun"
    COMMAND ${HELP2MAN} --no-info --name "start programs of OpenSHMEM" --output ${MAN}/man1/oshrun.1 $<TARGET_FILE:oshrun>)
  foreach(wrapper oshcc oshc++)
    add_custom_command(OUTPUT ${MAN}/man1/${wrapper}.1 DEPENDS ${CMAKE_BINARY_DIR}/bin/${wrapper} COMMENT "Writing the page of ${wrapper}"
      COMMAND ${HELP2MAN} --no-info --version-string ${PROJECT_VERSION} --name "compile programs of OpenSHMEM"
        --output ${MAN}/man1/${wrapper}.1 ${CMAKE_BINARY_DIR}/bin/${wrapper})
    list(APPEND MAN_PAGES ${MAN}/man1/${wrapper}.1)
  endforeach()
  list(APPEND MAN_PAGES ${MAN}/man1/oshrun.1)
endif()
add_custom_target(man_pages ALL DEPENDS ${MAN_PAGES})
