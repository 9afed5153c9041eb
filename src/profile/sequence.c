/* sequence.c - keeps the rows of calls that follow each other, and compares each with the last transfer. */
#include "profile/sequence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { INDEX = 2 * WTL_SEQUENCE_STEPS };

static bool is_same(const wtl_step_end *a, const wtl_step_end *b)
{
  return a->addr == b->addr && a->call == b->call && a->path == b->path;
}

static uint16_t *place_of(const wtl_sequence *q, const wtl_step_end *from, const wtl_step_end *to)
{
  uint64_t hash = (from->addr + from->call) * 0x9e3779b97f4a7c15ull + from->path;
  hash = (hash ^ (to->addr + to->call)) * 0xd6e8feb86659fd93ull + to->path;
  uint32_t i = (uint32_t)(hash * 0x9e3779b97f4a7c15ull >> 32) % INDEX;
  for (; q->index[i]; i = (i + 1) % INDEX) {
    const wtl_step *s = wtl_sequence_step(q, q->index[i] - 1u);
    if (is_same(&s->from, from) && is_same(&s->to, to)) break;
  }
  return &q->index[i];
}

/* The row of a step, a new one if need be; NULL: no memory, or there are too many. */
static wtl_step *step_of(wtl_sequence *q, const wtl_step_end *from, const wtl_step_end *to)
{
  if (!q->index && !(q->index = calloc(INDEX, sizeof *q->index))) return NULL;
  uint16_t *at = place_of(q, from, to);
  if (*at) return wtl_sequence_step(q, *at - 1u);
  if (q->used >= WTL_SEQUENCE_STEPS) return NULL;
  wtl_step **chunk = &q->chunk[q->used / WTL_SEQUENCE_CHUNK];
  if (!*chunk && !(*chunk = calloc(WTL_SEQUENCE_CHUNK, sizeof **chunk))) return NULL;
  wtl_step *s = wtl_sequence_step(q, q->used);
  *s = (wtl_step){.from = *from, .to = *to, .area = -1};
  *at = (uint16_t)++q->used;
  return s;
}

static int area_of(const wtl_symmetric *areas, const void *p)
{
  for (int i = 0; i < WTL_SYMMETRIC_AREAS; i++)
    if (areas[i].start && (uintptr_t)p - (uintptr_t)areas[i].start < areas[i].bytes) return i;
  return -1;
}

/* Widens the range of memory that the calls of a step name. */
static void add_range(const wtl_sequence *q, wtl_step *s, const wtl_noted *now)
{
  const wtl_symmetric *areas = q->areas;
  int area = now->to.there ? area_of(areas, now->to.there) : -1;
  if (area < 0) return;
  uint64_t low = (uint64_t)((const char *)now->to.there - areas[area].start),
           high = low + (now->bytes ? now->bytes : 1);
  bool is_first = s->high == 0;
  if (is_first) s->area = area;
  if (s->area != area) {
    s->area = -1;
    return;
  }
  if (is_first || low < s->low) s->low = low;
  if (is_first || high > s->high) s->high = high;
}

/* A sum of bytes by which equal ones are recognized: FNV-1a of words and, at the end, of bytes. */
static uint64_t sum_of(const char *p, uint64_t n)
{
  uint64_t sum = 0xcbf29ce484222325ull, word, i = 0;
  for (; i + sizeof word <= n; i += sizeof word) {
    memcpy(&word, p + i, sizeof word);
    sum = (sum ^ word) * 0x100000001b3ull;
    sum ^= sum >> 29;
  }
  for (; i < n; i++) sum = (sum ^ (unsigned char)p[i]) * 0x100000001b3ull;
  return sum;
}

static void compare_bytes(wtl_step *s, const wtl_noted *now)
{
  if (!now->to.puts || !now->to.here || !now->to.there || now->bytes > WTL_SEQUENCE_BYTES) return;
  uint64_t sum = sum_of(now->to.here, now->bytes);
  if (s->place == now->to.there && s->place_pe == now->to.pe) {
    s->compared++;
    s->unchanged += s->sum == sum;
  }
  s->place = now->to.there;
  s->place_pe = now->to.pe;
  s->sum = sum;
}

static ptrdiff_t distance(const void *from, const void *to)
{
  return (ptrdiff_t)((uintptr_t)to - (uintptr_t)from);
}

/* Compares a transfer with the last one. */
static void add_transfer(const wtl_sequence *q, wtl_step *s, const wtl_noted *now)
{
  const wtl_noted *last = &q->transfer;
  if (now->to.here) s->private_here += area_of(q->areas, now->to.here) < 0;
  compare_bytes(s, now);
  if (!q->has_transfer) return;
  s->transfers++;
  s->same_pe += now->to.pe == last->to.pe;
  if (now->to.there && last->to.there) {
    ptrdiff_t there = distance(last->to.there, now->to.there);
    s->next_there += there == (ptrdiff_t)last->bytes;
    s->same_there += there == 0;
    s->stride_there += there && there == q->stride_there;
  }
  if (now->to.here && last->to.here) {
    ptrdiff_t here = distance(last->to.here, now->to.here);
    s->next_here += here == (ptrdiff_t)last->bytes;
    s->same_here += here == 0;
    s->stride_here += here && here == q->stride_here;
  }
}

/* The sum of memory that may be gone; false: it is, or the kernel does not permit to read it. */
static bool sum_at(const void *at, uint64_t bytes, uint64_t *sum)
{
  char copy[WTL_SEQUENCE_BYTES];
  int error = errno;
  struct iovec to = {copy, bytes}, from = {(void *)(uintptr_t)at, bytes};
  bool is_read = bytes && bytes <= sizeof copy && process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)bytes;
  errno = error;
  if (is_read) *sum = sum_of(copy, bytes);
  return is_read;
}

static bool is_reduction(const wtl_noted *call)
{
  return call->to.kind && call->to.here;
}

/* Compares a reduction with the one before it, and its input with the last one here. */
static void add_reduction(wtl_sequence *q, wtl_step *s, const wtl_noted *now)
{
  uint64_t sum;
  s->reductions++;
  s->alike += q->last.to.kind == now->to.kind;
  if (!sum_at(now->to.here, now->bytes, &sum)) return;
  if (q->has_early && q->into->then == s && s->input == now->to.here && s->input_bytes == now->bytes &&
      s->input_sum != sum) {
    s->inputs++;
    s->ready += q->early == sum;
  }
  s->input = now->to.here;
  s->input_bytes = now->bytes;
  s->input_sum = sum;
  if (q->into) q->into->then = s;
}

/* Reads the input that is expected of the next reduction, when one begins. */
static void look_ahead(wtl_sequence *q, wtl_step *into, const wtl_noted *now)
{
  const wtl_step *then = into ? into->then : NULL;
  q->into = into;
  q->has_early = then && is_reduction(now) && sum_at(then->input, then->input_bytes, &q->early);
}

void wtl_sequence_open(wtl_sequence *q)
{
  q->left = 0;
  q->into = NULL;
  q->has_last = q->has_transfer = q->burst_is_whole = false;
  q->stride_there = q->stride_here = 0;
  q->burst = 0;
}

void wtl_sequence_note(wtl_sequence *q, const wtl_noted *now)
{
  bool moves = now->to.pe >= 0 && now->bytes;
  wtl_step *s = q->has_last ? step_of(q, &q->last.site, &now->site) : NULL;
  q->noted++;
  if (s) {
    s->times++;
    s->ticks += now->tick - q->last.tick;
    s->bytes += now->bytes;
    s->any_source += now->to.kind == WTL_ANY_SOURCE && !now->to.here;
    if (q->left) {
      uint64_t gap = now->tick - q->left;
      s->gaps++;
      s->gap_ticks += gap < WTL_SEQUENCE_GAP ? gap : WTL_SEQUENCE_GAP;
    }
    add_range(q, s, now);
    if (is_reduction(now) && is_reduction(&q->last)) add_reduction(q, s, now);
    if (moves) add_transfer(q, s, now);
    if (!moves && q->burst_is_whole) {
      s->bursts++;
      s->burst_calls += q->burst;
    }
  } else if (q->has_last) {
    q->lost++;
  }
  look_ahead(q, s, now);
  q->left = 0;
  q->last = *now;
  q->has_last = true;
  q->burst = moves ? q->burst + 1 : 0;
  if (!moves) {
    q->burst_is_whole = true;
    return;
  }
  q->stride_there = q->has_transfer ? distance(q->transfer.to.there, now->to.there) : 0;
  q->stride_here = q->has_transfer ? distance(q->transfer.to.here, now->to.here) : 0;
  q->transfer = *now;
  q->has_transfer = true;
}

static void add_range_of(wtl_step *to, const wtl_step *from)
{
  if (!from->high) return;
  bool is_first = to->high == 0;
  to->area = is_first || to->area == from->area ? from->area : -1;
  if (is_first || from->low < to->low) to->low = from->low;
  if (is_first || from->high > to->high) to->high = from->high;
}

void wtl_sequence_add(wtl_sequence *to, const wtl_sequence *from)
{
  to->noted += from->noted;
  to->lost += from->lost;
  for (uint32_t i = 0; i < from->used; i++) {
    const wtl_step *f = wtl_sequence_step(from, i);
    wtl_step *t = step_of(to, &f->from, &f->to);
    if (!t) {
      to->lost += f->times;
      continue;
    }
#define WTL_STEP_ADD(name) t->name += f->name;
    WTL_STEP_COUNTS(WTL_STEP_ADD)
    WTL_STEP_LATER_COUNTS(WTL_STEP_ADD)
    t->ticks += f->ticks;
    t->gap_ticks += f->gap_ticks;
    t->bytes += f->bytes;
    add_range_of(t, f);
  }
}

void wtl_sequence_free(wtl_sequence *q)
{
  free(q->index);
  for (int i = 0; i < WTL_SEQUENCE_CHUNKS; i++) free(q->chunk[i]);
  memset(q, 0, sizeof *q);
}
