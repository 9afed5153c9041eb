/*
 * region_mark.h - receives the regions that a program marks for tools: Caliper, TAU, NVTX, MPI_Pcontrol, wattle.h.
 *
 * DESIGN. The program's own calls are observed, and its library still gets each of them with the same arguments. Calls
 * of Caliper, TAU, MPI_Pcontrol and wattle.h are redirected in the slots of the files that make them (call_slot.h). So
 * a program without such a library has none of its names. NVTX has no library: its header loads the file that the
 * variable NVTX_INJECTION64_PATH names, at the first mark, and takes functions from it (nvtx_injection.c). The variable
 * is set if the program has not set it for another tool.
 *
 * A mark inside a call of such a library is not the program's and is left out.
 *
 * MPI_Pcontrol(1, "name") begins a region and MPI_Pcontrol(-1, "name") ends it, as IPM has it. No argument says whether
 * there is a second one, and a register may have an old value. So a text is taken for a name if it can be read, is not
 * empty and has no control character in its first 127 bytes. Level 0 begins the region WTL_MARK_OFF, which the next
 * level of at least 1 ends, as mpiP has it. That call begins no region.
 */
#ifndef WTL_BASE_REGION_MARK_H
#define WTL_BASE_REGION_MARK_H

#include <stdbool.h>
#include <stdint.h>

enum { WTL_MARK_NAME = 128 }; /* bytes of a name with its NUL; a longer one is cut */
#define WTL_MARK_OFF "MPI_Pcontrol(0)"

enum wtl_mark_source { WTL_MARK_WATTLE, WTL_MARK_CALIPER, WTL_MARK_TAU, WTL_MARK_NVTX, WTL_MARK_PCONTROL };

typedef struct wtl_region_mark {
  enum wtl_mark_source source;
  bool begins;
  const char *name; /* an end without a name is that of the innermost open region of the source with this id */
  uint64_t id;      /* tells open regions of a source apart that may have the same name, or none; 0: they are nested */
} wtl_region_mark;

typedef void wtl_mark_sink(const wtl_region_mark *mark);

/* Passes the calling thread's marks to `sink` from now on. May be called again after more files have been loaded. */
void wtl_mark_observe(wtl_mark_sink *sink);

/* Passes a mark on, unless it is made inside a call of an observed library. */
void wtl_mark_pass(const wtl_region_mark *mark);

/* Names the file with NVTX's injection to the header of NVTX. */
void wtl_mark_offer_nvtx(void);

#endif
