# Finds the Python that has the packages of the lab, as WTL_LAB_PYTHON. `make build` and `make test` have them in .venv.
# A package's build names another one.
if(NOT WTL_LAB_PYTHON)
  set(WTL_LAB_PYTHON ${CMAKE_SOURCE_DIR}/.venv/bin/python)
  if(NOT EXISTS ${WTL_LAB_PYTHON})
    set(WTL_LAB_PYTHON ${Python3_EXECUTABLE})
  endif()
endif()
