/* python_layout.c - the layouts of CPython 3.9 to 3.13. */
#include "profile/python_layout.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* --- the layouts of 3.9 to 3.12 --- */

/*
 * Columns: minor, lines; has cframe, has instruction; thread_frame, cframe_frame; of a frame: code, caller,
 * instruction, owner; of code: file, name (since 3.11 co_qualname), line, lines, start, bytes; of bytes: length,
 * data; of text: length, state, data.
 */
static const wtl_python_layout known[] = {
    {9, WTL_PYTHON_LNOTAB, 0, 0, 24, 0, 32, 24, 104, 0, 104, 112, 40, 120, 0, 176, 16, 32, 16, 32, 48},
    {10, WTL_PYTHON_LINES, 0, 0, 24, 0, 32, 24, 96, 0, 104, 112, 40, 120, 0, 176, 16, 32, 16, 32, 48},
    {11, WTL_PYTHON_LOCATIONS, 1, 1, 56, 8, 32, 48, 56, 0, 112, 128, 72, 136, 184, 184, 16, 32, 16, 32, 48},
    {12, WTL_PYTHON_LOCATIONS, 1, 1, 56, 0, 0, 8, 56, 70, 112, 128, 68, 136, 192, 192, 16, 32, 16, 32, 40},
};

static bool take_known(wtl_python_layout *l, int minor)
{
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].minor == minor) {
      *l = known[i];
      return true;
    }
  return false;
}

/* --- the layout that 3.13 states: words at the beginning of _PyRuntime (Include/internal/pycore_runtime.h) --- */

enum {
  VERSION = 1,
  FREE_THREADED = 2,
  THREAD_FRAME = 23,
  FRAME_CALLER = 29,
  FRAME_CODE,
  FRAME_INSTRUCTION,
  CODE_FILE = 35,
  CODE_NAME = 37, /* co_qualname */
  CODE_LINES,
  CODE_LINE,
  CODE_START = 43,
  BYTES_LENGTH = 65,
  BYTES_DATA,
  TEXT_STATE = 68,
  TEXT_LENGTH,
  TEXT_DATA,
  MOST_OFFSET = 4096
};

static bool take_stated(wtl_python_layout *l, const uint64_t *word)
{
  static const int used[] = {THREAD_FRAME, FRAME_CALLER, FRAME_CODE,  FRAME_INSTRUCTION, CODE_FILE,
                             CODE_NAME,    CODE_LINES,   CODE_LINE,   CODE_START,        BYTES_LENGTH,
                             BYTES_DATA,   TEXT_STATE,   TEXT_LENGTH, TEXT_DATA};
  if (!word || memcmp(word, "xdebugpy", 8) != 0 || word[VERSION] >> 16 != 0x030d || word[FREE_THREADED]) return false;
  for (size_t i = 0; i < sizeof used / sizeof *used; i++)
    if (word[used[i]] > MOST_OFFSET) return false;
  *l = (wtl_python_layout){.minor = 13,
                           .lines = WTL_PYTHON_LOCATIONS,
                           .has_instruction = true,
                           .thread_frame = word[THREAD_FRAME],
                           .frame_code = word[FRAME_CODE],
                           .frame_caller = word[FRAME_CALLER],
                           .frame_instruction = word[FRAME_INSTRUCTION],
                           .code_file = word[CODE_FILE],
                           .code_name = word[CODE_NAME],
                           .code_line = word[CODE_LINE],
                           .code_lines = word[CODE_LINES],
                           .code_start = word[CODE_START],
                           .code_bytes = word[CODE_START],
                           .bytes_length = word[BYTES_LENGTH],
                           .bytes_data = word[BYTES_DATA],
                           .text_length = word[TEXT_LENGTH],
                           .text_state = word[TEXT_STATE],
                           .text_data = word[TEXT_DATA]};
  return true;
}

/* --- the interpreter --- */

/* tp_basicsize of a type object follows a head of 24 bytes and the name, except in a build with Py_TRACE_REFS. */
static size_t size_of(const void *type)
{
  size_t size;
  memcpy(&size, (const char *)type + 32, sizeof size);
  return size;
}

static int minor_of(const char *version)
{
  int minor;
  return version && sscanf(version, "3.%d.", &minor) == 1 && !strstr(version, "PyPy") && !strstr(version, "Graal")
             ? minor
             : 0;
}

bool wtl_python_layout_find(wtl_python *p)
{
  void *thread = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState"), *text = NULL, *object = NULL;
  *p = (wtl_python){0};
  if (sizeof(void *) == 8 && thread) {
    void *version = dlsym(RTLD_DEFAULT, "Py_GetVersion");
    text = dlsym(RTLD_DEFAULT, "PyUnicode_Type");
    object = dlsym(RTLD_DEFAULT, "PyBaseObject_Type");
    p->code_type = dlsym(RTLD_DEFAULT, "PyCode_Type");
    if (version && text && object && p->code_type) {
      const char *(*get)(void);
      memcpy(&get, &version, sizeof get);
      int minor = minor_of(get());
      bool is_known =
          minor == 13 ? take_stated(&p->layout, dlsym(RTLD_DEFAULT, "_PyRuntime")) : take_known(&p->layout, minor);
      if (is_known && size_of(object) == 16 && size_of(p->code_type) == p->layout.code_bytes) {
        p->text_type = text;
        memcpy(&p->thread, &thread, sizeof p->thread);
      }
    }
  }
  dlerror(); /* the program asks for its own errors */
  return p->thread;
}
