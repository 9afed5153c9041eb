/*
 * python_layout.h - finds the CPython of the process, and the places of the fields in its structures.
 *
 * Nothing is linked: the interpreter's symbols are looked up. From 3.13 on the interpreter states the places itself, in
 * _PyRuntime. Those of 3.9 to 3.12 are constants of the minor version (Include/ of CPython 3.9.18, 3.10.13, 3.11.7 and
 * 3.12.1; 64-bit, not a debug build).
 */
#ifndef WTL_PROFILE_PYTHON_LAYOUT_H
#define WTL_PROFILE_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The table that gives the line of an instruction. */
enum wtl_python_lines {
  WTL_PYTHON_LNOTAB,    /* 3.9: steps of bytes and lines */
  WTL_PYTHON_LINES,     /* 3.10: ranges of bytes with their step of lines */
  WTL_PYTHON_LOCATIONS, /* since 3.11: ranges of code units with lines and columns */
};

/* Offsets in bytes. */
typedef struct wtl_python_layout {
  int minor; /* of 3.`minor` */
  enum wtl_python_lines lines;
  bool has_cframe;      /* the thread's state leads to the frame by another structure */
  bool has_instruction; /* a frame has the address of its instruction; otherwise its number */
  size_t thread_frame, cframe_frame;
  size_t frame_code, frame_caller, frame_instruction, frame_owner; /* owner: 0: frames have none */
  size_t code_file, code_name, code_line, code_lines, code_start;  /* start: of the instructions */
  size_t code_bytes;                                               /* the size of a code object without these */
  size_t bytes_length, bytes_data;
  size_t text_length, text_state, text_data;
} wtl_python_layout;

/* An interpreter. */
typedef struct wtl_python {
  wtl_python_layout layout;
  void *(*thread)(void);             /* PyGILState_GetThisThreadState: may be called without the interpreter's lock */
  const void *code_type, *text_type; /* PyCode_Type, PyUnicode_Type */
} wtl_python;

/* Finds the interpreter that the process has loaded with global symbols. Returns false without one, and
 * if its layout is not known. */
bool wtl_python_layout_find(wtl_python *p);

#endif
