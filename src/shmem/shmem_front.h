/*
 * shmem_front.h - the beginning and end of every generated OpenSHMEM call: find the PE, count the call, check the
 * arguments.
 *
 * DESIGN
 *
 * The checks are on unless WATTLE_CHECK=off. They compare values that the call has in registers anyway. A wrong
 * argument ends the job with one line that names the call, the value and the PE.
 *
 * generate.py writes the calls from api.toml. A call finds its PE and is counted (wtl_enter), checks its arguments
 * (wtl_check_*), does its work in a lower room, and ends (wtl_leave). Rarely used parts are functions of this room.
 */
#ifndef WTL_SHMEM_SHMEM_FRONT_H
#define WTL_SHMEM_SHMEM_FRONT_H

#include "base/error.h"
#include "am/am.h"
#include "team/context.h"
#include "pgas/frame.h"
#include "pgas/pe.h"
#include "pgas/rma.h"
#include "collective/collective.h"
#include "team/team.h"
#include "profile/error_place.h"
#include "team/wait_until.h"

extern const wtl_call_info wtl_shmem_calls[];

static inline const char *wtl_shmem_call_name(uint32_t call)
{
  return wtl_shmem_calls[call].name;
}

/* The name of a call and the address in the program from which it was called, for the message that ends the job. */
static inline const char *wtl_shmem_call_here(uint32_t call)
{
  return wtl_error_place(wtl_shmem_call_name(call));
}

/* The properties of a routine that its worker function (generate.py) needs. */
typedef struct wtl_typed {
  uint32_t call, size; /* of an element, in bytes */
  wtl_combine_fn combine;
  enum wtl_word word;
} wtl_typed;

/* shmem_finalize if there is no PE. Test programs call it once more at their end. It ends the job if there never was
 * a PE. */
void wtl_shmem_finalized_already(uint32_t call);

/* Reports once that a thread calls which must not, by the thread level of the program. The call continues. */
void wtl_shmem_report_other_thread(uint32_t call) __attribute__((cold));

/* The following functions end the job. `call` is an index of wtl_shmem_calls. */
void wtl_shmem_refuse_pe(uint32_t call, int pe) __attribute__((noreturn, cold));
void wtl_shmem_refuse_count(uint32_t call, size_t n, size_t size) __attribute__((noreturn, cold));
void wtl_shmem_refuse_symmetric(uint32_t call, const char *name, const void *p, size_t bytes, int pe)
    __attribute__((noreturn, cold));
void wtl_shmem_refuse_local(uint32_t call, const char *name, size_t bytes) __attribute__((noreturn, cold));
void wtl_shmem_refuse_alignment(uint32_t call, const char *name, const void *p, size_t align)
    __attribute__((noreturn, cold));
void wtl_shmem_refuse_value(uint32_t call, const char *name, long long value, const char *allowed)
    __attribute__((noreturn, cold));
void wtl_shmem_refuse_size(uint32_t call, const char *name, size_t value, const char *allowed)
    __attribute__((noreturn, cold));

/*
 * Puts the flow of a context other than the default one into the frame. `handle` comes from the program. The second
 * function also returns the number in the job of PE `pe` of the context's team. Both end the job if the handle is not
 * valid or if there is no such PE.
 */
void wtl_shmem_in_context(wtl_frame *f, const void *handle);
int wtl_shmem_pe_in_context(wtl_frame *f, const void *handle, int pe);

/* Returns the team of a handle, and ends the job if the handle is not valid. wtl_shmem_team_or_none returns NULL for
 * SHMEM_TEAM_INVALID. */
wtl_team *wtl_shmem_team_named(const wtl_frame *f, const char *name, const void *handle);
wtl_team *wtl_shmem_team_or_none(const wtl_frame *f, const char *name, const void *handle);

static inline __attribute__((always_inline)) wtl_team *wtl_team_of(const wtl_frame *f, const void *handle)
{
  return WTL_LIKELY((uintptr_t)handle == 1) ? f->self->world : wtl_shmem_team_named(f, "team", handle);
}

/* Returns the active set of a call, in the memory `set`. For a set of all PEs it returns the world's team instead,
 * unless threads of a PE may call at once and pSync is symmetric. */
wtl_team *wtl_shmem_active_set_of(const wtl_frame *f, wtl_team *set, int start, int log_stride, int n, long *sync);

/* Bytes from the first to the end of the last of `n` blocks of `block` elements of `size` bytes, one every `stride`
 * elements. SIZE_MAX if that is more than any memory. */
static inline size_t wtl_shmem_extent(size_t n, size_t block, ptrdiff_t stride, size_t size)
{
  size_t elements;
  if (n == 0 || block == 0) return 0;
  if (__builtin_mul_overflow(n - 1, (size_t)stride, &elements) || __builtin_add_overflow(elements, block, &elements) ||
      __builtin_mul_overflow(elements, size, &elements))
    return SIZE_MAX;
  return elements;
}

static inline __attribute__((always_inline)) void wtl_check_pe(const wtl_frame *f, int pe)
{
  if (f->self->check && WTL_UNLIKELY((unsigned)pe >= (unsigned)f->self->n)) wtl_shmem_refuse_pe(f->call, pe);
}

/* Checks that the bytes of `n` elements of `size` bytes can be counted. */
static inline __attribute__((always_inline)) void wtl_check_count(const wtl_frame *f, size_t n, size_t size)
{
  size_t bytes;
  if (WTL_UNLIKELY(f->self->check && (__builtin_mul_overflow(n, size, &bytes) || bytes > PTRDIFF_MAX)))
    wtl_shmem_refuse_count(f->call, n, size);
}

static inline __attribute__((always_inline)) void wtl_check_symmetric(const wtl_frame *f, const char *name,
                                                                      const void *p, size_t bytes, int pe)
{
  if (f->self->check && WTL_UNLIKELY(bytes > wtl_symmetric_bytes(f->self, p)))
    wtl_shmem_refuse_symmetric(f->call, name, p, bytes, pe);
}

/* Checks memory that is only read: it is symmetric, or a constant of the program. */
static inline __attribute__((always_inline)) void wtl_check_readable(const wtl_frame *f, const char *name,
                                                                     const void *p, size_t bytes, int pe)
{
  if (f->self->check && WTL_UNLIKELY(bytes > wtl_symmetric_bytes(f->self, p)) && bytes > wtl_readable_bytes(f->self, p))
    wtl_shmem_refuse_symmetric(f->call, name, p, bytes, pe);
}

/* The memory of an argument. */
typedef struct wtl_area {
  const char *name;
  const void *start;
  size_t bytes;
} wtl_area;

/* `in_place`: the call would allow equal addresses. */
void wtl_shmem_refuse_overlap(uint32_t call, wtl_area a, wtl_area b, bool in_place) __attribute__((noreturn, cold));

static inline __attribute__((always_inline)) bool wtl_areas_overlap(wtl_area a, wtl_area b)
{
  uintptr_t at_a = (uintptr_t)a.start, at_b = (uintptr_t)b.start;
  return (at_a - at_b < b.bytes && a.bytes) || (at_b - at_a < a.bytes && b.bytes);
}

static inline __attribute__((always_inline)) void wtl_check_disjoint(const wtl_frame *f, wtl_area a, wtl_area b)
{
  if (WTL_UNLIKELY(f->self->check && wtl_areas_overlap(a, b))) wtl_shmem_refuse_overlap(f->call, a, b, false);
}

/* Checks that `dest` and `source` of a collective, `bytes` each, are the same memory or do not overlap. */
static inline __attribute__((always_inline)) void wtl_check_apart(const wtl_frame *f, const void *dest,
                                                                  const void *source, size_t bytes)
{
  uintptr_t a = (uintptr_t)dest, b = (uintptr_t)source, distance = a < b ? b - a : a - b;
  if (WTL_UNLIKELY(distance - 1 < bytes - 1 && bytes && f->self->check))
    wtl_shmem_refuse_overlap(f->call, (wtl_area){"dest", dest, bytes}, (wtl_area){"source", source, bytes}, true);
}

/* Checks that the root of a collective is a PE of the team. */
void wtl_shmem_refuse_root(uint32_t call, int root, int n) __attribute__((noreturn, cold));
static inline __attribute__((always_inline)) void wtl_check_root(const wtl_frame *f, int root, const wtl_team *t)
{
  if (WTL_UNLIKELY(f->self->check && (unsigned)root >= (unsigned)t->n)) wtl_shmem_refuse_root(f->call, root, t->n);
}

static inline __attribute__((always_inline)) void wtl_check_local(const wtl_frame *f, const char *name, const void *p,
                                                                  size_t bytes)
{
  if (WTL_UNLIKELY(f->self->check && !p && bytes)) wtl_shmem_refuse_local(f->call, name, bytes);
}

void wtl_shmem_refuse_null(uint32_t call, const char *name) __attribute__((noreturn, cold));
static inline __attribute__((always_inline)) void wtl_check_given(const wtl_frame *f, const char *name, const void *p)
{
  if (WTL_UNLIKELY(f->self->check && !p)) wtl_shmem_refuse_null(f->call, name);
}

static inline __attribute__((always_inline)) void wtl_check_alignment(const wtl_frame *f, const char *name,
                                                                      const void *p, size_t align)
{
  if (WTL_UNLIKELY(f->self->check && ((uintptr_t)p & (align - 1)))) wtl_shmem_refuse_alignment(f->call, name, p, align);
}

static inline __attribute__((always_inline)) void wtl_check_that(const wtl_frame *f, bool good, const char *name,
                                                                 long long value, const char *allowed)
{
  if (WTL_UNLIKELY(f->self->check && !good)) wtl_shmem_refuse_value(f->call, name, value, allowed);
}

static inline __attribute__((always_inline)) void wtl_check_size(const wtl_frame *f, bool good, const char *name,
                                                                 size_t value, const char *allowed)
{
  if (WTL_UNLIKELY(f->self->check && !good)) wtl_shmem_refuse_size(f->call, name, value, allowed);
}

#endif
