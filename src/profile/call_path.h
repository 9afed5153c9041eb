/*
 * call_path.h - the tree of call paths: the chain of callers above a call of the library.
 *
 * DESIGN. The process has one tree. A node is a return address below the node of its caller. A site (profile.h) names
 * the node of its own return address. Nodes are never removed, so a number stays valid. A node keeps the file that
 * contained its address when the node was made: another file may be loaded there later.
 *
 * A path is read from the stack by the rules of frame_rule.h (aarch64: by the chain of frame pointers), which takes
 * about a microsecond. A thread therefore remembers the words of its stack that were read. The path depends on these
 * words, the stack pointer and the loaded files alone. While they are unchanged, the path is the same, and a call costs
 * one comparison for each word. Files that the program can unload are looked up again, which costs some 20 ns each.
 *
 * A path ends below the C library's frames that start a program or thread. It is cut at the depth of WATTLE_CALL_PATHS,
 * at a frame without a rule, at the frame of a signal handler, and where the stack is not the thread's own. All reads
 * stay within that stack.
 *
 * The interpreter's own frames say nothing about a Python program. The path goes on at the first of them, or where it
 * would be cut, with the thread's Python frames (python_frames.h). Their words are read after those of the stack.
 *
 * A call in a region that the program marks (user_region.h) has the region as the outermost node of its path.
 *
 * MEMORY. At most WTL_PATH_LEAVES paths have sites of their own, with WTL_PATH_NODES nodes: 3 MiB with their index.
 * Further paths are counted below the node WTL_PATH_OTHER. A thread remembers the paths of a region in up to 4 MiB, of
 * which it touches as much as they need: 64 bytes a path and 16 for each word.
 */
#ifndef WTL_PROFILE_CALL_PATH_H
#define WTL_PROFILE_CALL_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/modules.h"

enum {
  WTL_PATH_NODES = 1 << 17,
  WTL_PATH_LEAVES = 1 << 14,
  WTL_PATH_DEEPEST = 64, /* the largest WATTLE_CALL_PATHS */
  WTL_PATH_WORDS = 4 * (WTL_PATH_DEEPEST + 1),
  WTL_PATH_LIBRARIES = 4, /* files of a path that can be unloaded; a path with more is read at each call */
};

/* The parent of a node without a caller. */
#define WTL_NO_PATH UINT32_MAX

/* Nodes that are no address. */
enum {
  WTL_PATH_CUT,    /* the callers above are not known, or deeper than asked for */
  WTL_PATH_OTHER,  /* paths beyond WTL_PATH_LEAVES */
  WTL_PATH_SIGNAL, /* a signal interrupted the thread */
  WTL_N_PATH_MARKS
};

/* The `module` of a Python frame, whose `addr` is the number of its place (python_code.h) + 1. */
enum { WTL_PATH_PYTHON = -5 };

/* The `module` of a region, whose `addr` is its number + 1, and of a mark in a region, whose `addr` is 1. Outside
 * regions a mark has its own number, and no address. */
enum {
  WTL_PATH_REGION = -6,
  WTL_PATH_FIRST_MARK = -2,
  WTL_PATH_LAST_MARK = WTL_PATH_FIRST_MARK - WTL_N_PATH_MARKS + 1
};

/* Plain data without pointers. */
typedef struct wtl_path_node {
  uint64_t addr;   /* return address; 0: a mark */
  uint32_t parent; /* WTL_NO_PATH: none */
  int32_t module;  /* for wtl_path_module; -1: in no file; or a value below that, as above */
} wtl_path_node;

/* The origin of a call: its return address and the frame of the called function. `frame` NULL: the path is not asked
 * for. */
typedef struct wtl_origin {
  uintptr_t addr;
  const uintptr_t *frame;
} wtl_origin;

/* The origin of the function that contains it. */
#define WTL_ORIGIN ((wtl_origin){(uintptr_t)__builtin_return_address(0), __builtin_frame_address(0)})

/* A word of the stack that was read. */
typedef struct wtl_path_word {
  const uintptr_t *at;
  uintptr_t value;
} wtl_path_word;

/* A file that can be unloaded, and an address in it. */
typedef struct wtl_path_library {
  uintptr_t addr;
  int32_t module;
} wtl_path_library;

/* All that a path depends on, except its origin. */
typedef struct wtl_path_grounds {
  uint16_t n_words, n_libraries;
  uint16_t n_stack;   /* of the words, those of the stack; they are the first ones */
  const void *python; /* the present Python frame, from which the others were read; NULL: there are none */
  bool complete;      /* false: there was no space for all */
  wtl_path_word word[WTL_PATH_WORDS];
  wtl_path_library library[WTL_PATH_LIBRARIES];
} wtl_path_grounds;

/* The stack of a thread: from `low` up to `high`. Both 0: not known. */
typedef struct wtl_path_stack {
  uintptr_t low, high;
} wtl_path_stack;

wtl_path_stack wtl_path_stack_here(void);

/* Returns the node of the origin's return address, below at most `depth` callers and a region (its number, or
 * WTL_NO_REGION of user_region.h). Any thread may call it. WTL_NO_PATH: no memory, or the thread was interrupted
 * here. */
uint32_t wtl_path_find(wtl_origin origin, int depth, wtl_path_stack stack, uint32_t region, wtl_path_grounds *grounds);

/* Returns whether the same files are loaded at these addresses. */
bool wtl_path_libraries_stay(const wtl_path_library *library, size_t n);

/* Returns the node with that number, which must be one that was returned. A node without a parent or module stands for
 * one that is not there, as in a simulated PE. */
wtl_path_node wtl_path_node_of(uint32_t node);

/* Returns a file of nodes; NULL for -1. Valid until the process ends. */
const wtl_module *wtl_path_module(int32_t module);

#endif
