/* python_frames.c - walks the frames of CPython by the places of their fields. */
#include "profile/python_frames.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "os/atomic.h"
#include "os/os.h"
#include "profile/python_code.h"

static wtl_python python;
static _Atomic bool is_found;

enum { UNCHECKED, GOOD, BAD };
static _Atomic int check; /* of the layout, by a frame */

static const void *pointer_at(const void *at, size_t offset)
{
  const void *pointer;
  memcpy(&pointer, (const char *)at + offset, sizeof pointer);
  return pointer;
}

uintptr_t wtl_python_find(void)
{
  if (WTL_OS_IS_SIMULATED) return 0;
  if (!is_found && wtl_python_layout_find(&python)) is_found = true;
  return is_found ? (uintptr_t)python.thread : 0;
}

/* --- the check of the layout --- */

/* As pointer_at, for an address that may be wrong. NULL: it is, or the kernel does not permit to ask. */
static const void *safe_pointer_at(const void *at, size_t offset)
{
  const void *pointer = NULL;
  struct iovec to = {&pointer, sizeof pointer}, from = {(char *)(uintptr_t)at + offset, sizeof pointer};
  return at && process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)sizeof pointer ? pointer : NULL;
}

/* Checks that the present frame has a code object with a file's name. */
static int check_thread(const void *thread)
{
  const wtl_python_layout *l = &python.layout;
  const void *frame = safe_pointer_at(thread, l->thread_frame);
  if (l->has_cframe) frame = safe_pointer_at(frame, l->cframe_frame);
  if (!frame) return UNCHECKED; /* the thread runs no Python code yet */
  const void *code = safe_pointer_at(frame, l->frame_code);
  bool good = safe_pointer_at(code, 8) == python.code_type;
  good = good && safe_pointer_at(safe_pointer_at(code, l->code_file), 8) == python.text_type;
  return good ? GOOD : BAD;
}

const void *wtl_python_frame_here(void)
{
  if (WTL_LIKELY(!is_found)) return NULL;
  const void *thread = python.thread();
  if (!thread) return NULL;
  if (WTL_UNLIKELY(check != GOOD)) {
    if (check == UNCHECKED) check = check_thread(thread);
    if (check != GOOD) return NULL;
  }
  const void *at = pointer_at(thread, python.layout.thread_frame);
  return python.layout.has_cframe && at ? pointer_at(at, python.layout.cframe_frame) : at;
}

/* --- frames --- */

/* The offset in bytes of a frame's instruction. */
static size_t offset_of(const wtl_python_layout *l, const void *frame, const void *code)
{
  int number;
  if (l->has_instruction)
    return (size_t)((const char *)pointer_at(frame, l->frame_instruction) - (const char *)code) - l->code_start;
  memcpy(&number, (const char *)frame + l->frame_instruction, sizeof number);
  return (size_t)(number < 0 ? 0 : number) * (l->minor == 10 ? 2 : 1); /* 3.10 counts code units of two bytes */
}

static void note(wtl_python_frame *found, const void *at, size_t offset)
{
  found->word[found->n_words++] = (const uintptr_t *)(const void *)((const char *)at + offset);
}

const void *wtl_python_frame_read(const void *frame, wtl_python_frame *found)
{
  enum { OWNED_BY_C_STACK = 3 };
  const wtl_python_layout *l = &python.layout;
  const void *code = pointer_at(frame, l->frame_code);
  found->n_words = 0;
  found->has_place = code && pointer_at(code, 8) == python.code_type &&
                     !(l->frame_owner && ((const char *)frame)[l->frame_owner] == OWNED_BY_C_STACK);
  if (found->has_place) {
    found->place = wtl_python_code_place(&python, code, offset_of(l, frame, code));
    if (!l->has_instruction) note(found, frame, l->frame_code);
    note(found, frame, l->frame_instruction);
    note(found, code, l->code_file);
  }
  note(found, frame, l->frame_caller);
  return pointer_at(frame, l->frame_caller);
}
