/*
 * python_frames.h - reads the Python frames above a call of the library: files, functions and lines.
 *
 * DESIGN. Programs call this library from an extension module (mpi4py, shmem4py), which releases the interpreter's lock
 * around the call. So nothing here needs the lock. The only function of the interpreter that is called is
 * PyGILState_GetThisThreadState, which reads the thread's own word. All else is read from memory. A thread inside a
 * call changes none of its frames, and other threads do not either. So its frames and their code objects stay.
 *
 * Which call a frame is in depends on few words: the present frame, and for each frame its instruction, its file and
 * its caller. While they are unchanged, the path is the same. Each word is at an address that the words before it give,
 * so they are compared in order, and a word is read only if those before it are unchanged.
 *
 * The first frame is read by a system call that reports unreadable memory, and its types are checked. An interpreter
 * whose structures are different is left alone.
 */
#ifndef WTL_PROFILE_PYTHON_FRAMES_H
#define WTL_PROFILE_PYTHON_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WTL_PYTHON_FRAME_WORDS = 4 };

/* A frame, and the addresses of the words that it was read from, in order. */
typedef struct wtl_python_frame {
  bool has_place;                                /* false: the interpreter's own, between Python and C */
  uint32_t place;                                /* for wtl_python_place_of */
  const uintptr_t *word[WTL_PYTHON_FRAME_WORDS]; /* the last one has the address of the caller's frame */
  int n_words;
} wtl_python_frame;

/* Looks for the interpreter after files were loaded. Returns an address in its file; 0: there is none. One thread at a
 * time calls it (call_path.c). */
uintptr_t wtl_python_find(void);

/* Returns the frame in which the calling thread is; NULL: in none, or the process has no interpreter. */
const void *wtl_python_frame_here(void);

/* Reads a frame. Returns its caller's; NULL: it is the outermost. One thread at a time calls it. */
const void *wtl_python_frame_read(const void *frame, wtl_python_frame *found);

#endif
