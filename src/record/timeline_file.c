/* timeline_file.c - writes the spans of all threads, with a JSON line before them. */
#include "record/timeline_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/new_file.h"
#include "os/locale.h"
#include "profile/user_region.h"

/* The measured cost of a span in ns: two readings of the clock, and the entry. */
static double price_of_a_span(double ns_per_tick)
{
  enum { SPANS = 4096 };
  wtl_timeline *t = wtl_timeline_make(SPANS * sizeof(wtl_event));
  if (!t) return 0;
  uint64_t before = wtl_ticks();
  for (uint64_t i = 0; i < SPANS; i++) {
    uint64_t begin = wtl_ticks();
    wtl_timeline_add(t, WTL_SPAN_CALL, begin, wtl_ticks(), i, 0, WTL_NO_PATH);
  }
  double ns = (double)(wtl_ticks() - before) * ns_per_tick / SPANS;
  free(t);
  return ns;
}

/* The timeline of a thread and its present number of spans. The thread may still add spans. */
typedef struct thread_spans {
  const wtl_timeline *of;
  size_t n;
} thread_spans;

/* Writes the names of the calls that occur, by their numbers; "" for the others. */
static void write_calls(FILE *f, const wtl_record *self, const thread_spans *all, size_t n)
{
  enum { MOST = WTL_N_FRONTS * WTL_CALLS_A_FRONT };
  bool occurs[MOST] = {false};
  uint32_t calls = 0;
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < all[i].n; k++) {
      const wtl_event *e = &all[i].of->event[k];
      if (e->span == WTL_SPAN_CLOCK || e->span == WTL_SPAN_REGION) continue;
      if (e->call >= calls) calls = e->call + 1;
      if (e->addr) occurs[e->call] = true; /* otherwise a wait outside any call */
    }
  fputs(",\"calls\":[", f);
  for (uint32_t call = 0; call < calls; call++) {
    if (call) putc(',', f);
    wtl_json_text(f, occurs[call] ? wtl_record_call(self, call)->name : "");
  }
  putc(']', f);
}

static void write_thread(FILE *f, const thread_spans *k, double ns)
{
  const wtl_timeline *t = k->of;
  uint64_t left_out = 0;
  for (int i = 0; i < WTL_N_SPANS; i++) left_out += t->left_out[i];
  wtl_json(f, "{'spans':%zu,'seen':%ju,'left_out':%ju,'left_out_s':%g,'least_s':%g,'collectives':%ju,'bytes':%zu}",
           k->n, t->seen, left_out, (double)t->left_out_ticks * ns * 1e-9, (double)t->least * ns * 1e-9, t->collectives,
           t->capacity * sizeof(wtl_event));
}

/* Writes the spans. Their paths are places in the profile's file from then on. */
static void write_spans(FILE *f, const wtl_caller_list *callers, const thread_spans *k)
{
  for (size_t i = 0; i < k->n; i++) {
    wtl_event e = k->of->event[i];
    if (e.path) e.path = (uint32_t)(wtl_caller_list_place(callers, wtl_path_node_of(e.path - 1).parent) + 1);
    fwrite(&e, sizeof e, 1, f);
  }
}

/* Ticks are hexadecimal, because they need more digits than JSON numbers keep. */
static void write_clock(FILE *f, const wtl_record *self, double ns)
{
  WTL_LOCALE_APART;
  struct timespec wall;
  clock_gettime(CLOCK_REALTIME, &wall);
  uint64_t tick = wtl_ticks(), monotonic = wtl_clock_ns();
  fprintf(f, ",\"start_tick\":\"0x%jx\",\"end_tick\":\"0x%jx\"", (uintmax_t)self->start_tick, (uintmax_t)tick);
  fprintf(f, ",\"end_monotonic_ns\":\"0x%jx\",\"end_realtime_ns\":\"0x%jx\"", (uintmax_t)monotonic,
          (uintmax_t)wall.tv_sec * 1000000000u + (uintmax_t)wall.tv_nsec);
  fprintf(f, ",\"ns_per_tick\":%.17g", ns);
}

static size_t keep_all(const wtl_record *self, thread_spans **out)
{
  size_t n = 0, i = 0;
  for (wtl_site_table *table = self->profile->tables; table; table = table->next) n += table->timeline != NULL;
  *out = calloc(n + 1, sizeof **out);
  for (wtl_site_table *table = self->profile->tables; *out && table && i < n; table = table->next) {
    if (!table->timeline) continue;
    wtl_timeline_close(table->timeline);
    (*out)[i++] = (thread_spans){table->timeline, table->timeline->n};
  }
  return i;
}

static void write_all(FILE *f, const wtl_record *self)
{
  double ns = self->door->stages.ns_per_tick;
  thread_spans *all;
  size_t n = keep_all(self, &all);
  fprintf(f, "{\"schema\":2,\"pe\":%d,\"n_pes\":%d", self->me, self->n);
  write_clock(f, self, ns);
  wtl_json(f, ",'ns_per_span':%g", price_of_a_span(ns));
  fputs(",\"threads\":[", f);
  for (size_t i = 0; i < n; i++) {
    if (i) putc(',', f);
    write_thread(f, &all[i], ns);
  }
  putc(']', f);
  write_calls(f, self, all, n);
  fputs("}\n", f);
  for (size_t i = 0; i < n; i++) write_spans(f, &self->callers, &all[i]);
  free(all);
}

void wtl_record_write_timeline(const wtl_record *self)
{
  const char *dir = self->settings->profile_dir.text;
  char path[WTL_NEW_FILE_PATH];
  wtl_new_file file;
  if (!*dir || !self->profile->timeline_bytes) return;
  self->door->noted = NULL;
  wtl_user_region_note_open();
  snprintf(path, sizeof path, "%s/timeline-%05d.bin", dir, self->me);
  if (!wtl_new_file_open(&file, path)) {
    wtl_message_print("cannot write the timeline %s: %s", path, strerror(errno));
    return;
  }
  write_all(file.out, self);
  if (!wtl_new_file_close(&file)) wtl_message_print("cannot write the timeline %s: %s", path, strerror(errno));
}
