/*
 * python_code.h - finds the file, the function and the line of an instruction of a Python code object, and keeps each
 * such place under a number.
 *
 * All functions but wtl_python_place_of are called by one thread at a time (call_path.c). A place stays until the
 * process ends.
 */
#ifndef WTL_PROFILE_PYTHON_CODE_H
#define WTL_PROFILE_PYTHON_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "profile/python_layout.h"

enum { WTL_PYTHON_PLACES = 1 << 16 };

typedef struct wtl_python_place {
  char *file, *function; /* UTF-8; the function as the interpreter names it: "Solver.step", before 3.11 "step" */
  int line;              /* 0: not known */
} wtl_python_place;

/* Returns the number of the place of the instruction at `offset` bytes in a living code object. WTL_PYTHON_PLACES: no
 * memory, or there are too many places. */
uint32_t wtl_python_code_place(const wtl_python *p, const void *code, size_t offset);

/* Returns the number of places so far, and the place with a number below it. Any thread may call them. */
uint32_t wtl_python_places(void);
const wtl_python_place *wtl_python_place_of(uint32_t number);

/* Returns the line of an instruction by the table of a code object, with `first` the line of its definition. */
int wtl_python_line_read(enum wtl_python_lines kind, const unsigned char *table, size_t bytes, int first,
                         size_t offset);

#endif
