/*
 * hostile.c - sends the last PE messages that no PE should send: of other jobs, broken ones, and those of UCX's other
 * interfaces.
 *
 * PE 0 sends them by a UCX client of its own (stranger.h), in addition to the library's. The victim's memory must stay
 * unchanged, and the job must go on.
 *
 * After each attack one good message, by the same connection, asks the victim to check its memory: all earlier
 * messages have been taken by then. At the end PE 0 prints how many messages should have been counted.
 * test_strangers.py compares this number with the victim's profile.
 *
 * usage: hostile [ATTACK]: one attack, or all of them
 */
#include <shmem.h>

#include "pes.h"

#include "fabric/net.h"
#include "fabric/records.h"
#include "fabric/stranger.h"
#include "node/statics.h"
#include "pgas/pe.h"

enum { BLOCK = 1 << 18, LARGE = 1 << 20 };

/* The victim's memory: between two halves of a pattern, the word that good messages change. */
typedef struct field {
  unsigned char before[BLOCK];
  uint64_t turn, answer;
  unsigned char after[BLOCK];
} field;

static field variables;
static uint64_t raw_address; /* of the victim's heap field, in its process */

typedef struct attack_state {
  stranger s;
  field *heap;
  uint64_t place; /* of `variables`, in segment 0 of any PE */
  uint64_t foreign, malformed;
  char *large; /* LARGE bytes of a pattern of its own */
} attack_state;

static unsigned char pattern(size_t i)
{
  return (unsigned char)(i * 7 + i / 251);
}

static void fill(field *f)
{
  for (size_t i = 0; i < BLOCK; i++) f->before[i] = f->after[i] = pattern(i);
}

static void expect_pattern(const field *f, const char *which, const char *attack)
{
  for (size_t i = 0; i < BLOCK; i++)
    if (f->before[i] != pattern(i) || f->after[i] != pattern(i)) {
      EXPECT(false, "%s: byte %zu of the %s has changed", attack, i, which);
      return;
    }
}

static wire_large large_head(const attack_state *a, uint64_t cookie_change, uint64_t offset)
{
  return (wire_large){a->s.cookie ^ cookie_change, 0, 0, offset, 0, 0};
}

static pack batch(const attack_state *a, uint64_t cookie_change)
{
  return (pack){.head = {a->s.cookie ^ cookie_change, 0, 0}};
}

static void send_pack(attack_state *a, const pack *p, size_t n)
{
  send_message(&a->s, WIRE_BATCH, NULL, 0, &p->head, sizeof p->head + n, true);
}

/* --- attacks ------------------------------------------------------------------------------------------------------ */

static void other_jobs_messages(attack_state *a)
{
  for (int bit = 0; bit < 64; bit++) {
    pack p = batch(a, 1ull << bit);
    add(&p, WIRE_STORE, 0, a->place, 0, 64, 64);
    send_pack(a, &p, p.used);
    a->foreign++;
  }
  for (size_t n = 1024; n <= LARGE; n *= 4) {
    wire_large h = large_head(a, 5, a->place);
    for (int message = WIRE_PUT; message <= WIRE_LARGE_AM; message++) {
      if (n < 65536) send_message(&a->s, (unsigned)message, &h, sizeof h, a->large, n, true), a->foreign++;
      send_message(&a->s, (unsigned)message, &h, sizeof h, a->large, n, false), a->foreign++;
    }
  }
}

static void no_messages(attack_state *a)
{
  pack p = batch(a, 0);
  add(&p, WIRE_STORE, 0, a->place, 0, 64, 64);
  char header[256] = "";
  for (size_t n = 0; n < sizeof header; n += 3) {
    memcpy(header, &p.head, sizeof p.head);
    send_message(&a->s, WIRE_BATCH, header, n, p.data, p.used, true), a->foreign++;
    if (n != sizeof(wire_large)) send_message(&a->s, WIRE_PUT, header, n, p.data, p.used, true), a->foreign++;
  }
  p.head.from = (uint32_t)shmem_n_pes();
  send_pack(a, &p, p.used), a->foreign++;
}

static void broken_records(attack_state *a)
{
  static const struct {
    unsigned kind, segment;
    uint64_t offset, token, n;
    size_t data;
  } wrong[] = {
      {0, 0, 0, 0, 0, 0},
      {77, 0, 0, 0, 0, 0},
      {WIRE_STORE, WTL_SEGMENT_GLOBAL, 0, 0, 8, 8}, /* of ARMCI, which this program does not use */
      {WIRE_STORE, WTL_SEGMENT_BARRIER, 1 << 20, 0, 8, 8},
      {WIRE_STORE, 0, UINT64_MAX - 3, 0, 8, 8},
      {WIRE_STORE, 0, 1ull << 46, 0, 4096, 4096},
      {WIRE_STORE, 0, 0, 0, 4096, 8},
      {WIRE_STORE, 0, 0, 0, UINT64_MAX, 8},
      {WIRE_LOAD, 0, 0, 1, UINT64_MAX, 0},
      {WIRE_LOAD, 0, 1ull << 46, 1, 8, 0},
      {WIRE_AMO, 0, 0, 1, 8, 8},
      {WIRE_ANSWER, 0, 0, 0, 8, 8},
      {WIRE_ANSWER, 0, 0, 1ull << 32, 8, 8},
      {WIRE_ANSWER, 0, 0, 0, 0, 0},
      {WIRE_STORE, 0, 0, 0, 0, 0},
      {WIRE_LOAD, 0, 0, 0, 0, 0},
      {WIRE_AM, 0, 0, 0, 8, 8},
      {WIRE_AM, 99, 0, 0, 8, 8},
      {WIRE_AM, 2, 1ull << 46, 0, 8, 8},
      {WIRE_AM, 2, UINT64_MAX - 3, 0, 8, 8},
      {WIRE_AM, 6, 1, 0, 8, 8},
      {WIRE_AM, 1, 0, 0, UINT64_MAX, 8},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    pack p = batch(a, 0);
    add(&p, wrong[i].kind, wrong[i].segment, wrong[i].offset, wrong[i].token, wrong[i].n, wrong[i].data);
    send_pack(a, &p, p.used);
    a->malformed++;
  }
}

/* Only requests and replies come several at a time, and no more of them than there are bytes. */
static void broken_rows(attack_state *a)
{
  for (uint32_t kind = 0; kind <= 8; kind++) {
    bool may = kind == 1 || kind == 3;
    pack p = batch(a, 0);
    add_more(&p, add(&p, WIRE_AM, kind, 0, 0, 8, 8), 4);
    send_pack(a, &p, may ? p.used - 8 : p.used), a->malformed++;
    pack empty = batch(a, 0);
    add_more(&empty, add(&empty, WIRE_AM, kind, 0, 0, 0, 0), 4);
    if (!may) send_pack(a, &empty, empty.used), a->malformed++;
  }
  pack p = batch(a, 0);
  add_more(&p, add(&p, WIRE_STORE, 0, a->place, 0, 8, 8), 4);
  send_pack(a, &p, p.used), a->malformed++;
}

static void truncated_and_overlong(attack_state *a)
{
  pack p = batch(a, 0);
  add(&p, WIRE_STORE, 0, a->place, 0, 64, 64);
  for (size_t n = 0; n < p.used; n += 5) send_pack(a, &p, n), a->malformed++;
  p.head.records = UINT32_MAX;
  p.used = 0;
  send_pack(a, &p, 0), a->malformed++;
  /* A batch far longer than ours ever are; its first record is longer than what may be. */
  wire_record r = {WIRE_STORE, 0, 0, a->place, 0, 65536, 0, 0};
  memcpy(a->large, &p.head, sizeof p.head);
  memcpy(a->large + sizeof p.head, &r, sizeof r);
  send_message(&a->s, WIRE_BATCH, NULL, 0, a->large, LARGE / 4, true), a->malformed++;
  send_message(&a->s, WIRE_BATCH, NULL, 0, a->large, LARGE, false), a->foreign++; /* whose it is comes too late */
}

static void unaligned_atomics(attack_state *a)
{
  for (uint32_t size = 0; size <= 16; size++)
    for (uint64_t shift = 0; shift < 8; shift++) {
      bool good = (size == 4 || size == 8) && shift % size == 0;
      wtl_atomic amo = {WTL_AMO_ADD, size, 0x0101010101010101, 0};
      pack p = batch(a, 0);
      memcpy(add(&p, WIRE_AMO, 0, a->place + offsetof(field, turn) + shift, 0, sizeof amo, sizeof amo), &amo,
             sizeof amo);
      if (!good) send_pack(a, &p, p.used), a->malformed++;
    }
}

static void puts_that_belong_nowhere(attack_state *a)
{
  static const uint64_t offsets[] = {1ull << 46, UINT64_MAX, UINT64_MAX - LARGE + 1, 1ull << 63};
  for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++)
    for (size_t n = 1; n <= LARGE; n *= 32) {
      wire_large h = large_head(a, 0, offsets[i]);
      send_message(&a->s, WIRE_PUT, &h, sizeof h, a->large, n, n < 65536), a->malformed++;
      h.token = (uint64_t)next_random(&h.offset) << 32;
      send_message(&a->s, WIRE_DATA, &h, sizeof h, a->large, n, n < 65536), a->malformed++;
      h.segment = 77; /* no kind of message */
      send_message(&a->s, WIRE_LARGE_AM, &h, sizeof h, a->large, n, n < 65536), a->malformed++;
    }
}

/* Numbers of active messages that the library does not have: UCX drops them. */
static void unknown_messages(attack_state *a)
{
  static const unsigned ids[] = {0, 5, 31, 100, 4000};
  for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) send_message(&a->s, ids[i], "noise", 5, a->large, 64, true);
}

/* UCX's own remote memory access writes to any address of its target: the library must not have it switched on. */
static void raw_remote_memory_access(attack_state *a)
{
  ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                 .address = a->large,
                                 .length = LARGE};
  ucp_request_param_t how = {0};
  ucp_mem_h memory;
  ucp_rkey_h key;
  void *packed;
  size_t n;
  if (ucp_mem_map(a->s.context, &params, &memory) != UCS_OK ||
      ucp_rkey_pack(a->s.context, memory, &packed, &n) != UCS_OK || ucp_ep_rkey_unpack(a->s.ep, packed, &key) != UCS_OK)
    give_up("make a key");
  uint64_t address = shmem_uint64_g(&raw_address, shmem_n_pes() - 1);
  finish(&a->s, ucp_put_nbx(a->s.ep, a->large, 64, address, key, &how));
  finish(&a->s, ucp_put_nbx(a->s.ep, a->large, 8, address, key, &how));
  ucp_rkey_destroy(key);
  ucp_rkey_buffer_release(packed);
  ucp_mem_unmap(a->s.context, memory);
}

static void tags_and_streams(attack_state *a)
{
  ucp_request_param_t how = {0};
  finish(&a->s, ucp_tag_send_nbx(a->s.ep, a->large, 100, 1, &how));
  finish(&a->s, ucp_stream_send_nbx(a->s.ep, a->large, 100, &how));
}

static const struct {
  const char *name;
  void (*make)(attack_state *);
} attacks[] = {{"other_jobs_messages", other_jobs_messages},
               {"no_messages", no_messages},
               {"broken_records", broken_records},
               {"broken_rows", broken_rows},
               {"truncated_and_overlong", truncated_and_overlong},
               {"unaligned_atomics", unaligned_atomics},
               {"puts_that_belong_nowhere", puts_that_belong_nowhere},
               {"unknown_messages", unknown_messages},
               {"raw_remote_memory_access", raw_remote_memory_access},
               {"tags_and_streams", tags_and_streams}};
enum { N_ATTACKS = sizeof attacks / sizeof attacks[0] };

/* A place is an offset in the PE's slice, which begins with the program's variables. */
static uint64_t place_of_variables(void)
{
  wtl_statics statics = {0};
  wtl_statics_find(&statics);
  return (uint64_t)((char *)&variables - statics.start);
}

/* --- both sides --------------------------------------------------------------------------------------------------- */

/* A good message, by the stranger's connection: the victim may look. */
static void tell_turn(attack_state *a, uint64_t turn)
{
  pack p = batch(a, 0);
  memcpy(add(&p, WIRE_STORE, 0, a->place + offsetof(field, turn), 0, 8, 8), &turn, 8);
  send_pack(a, &p, p.used);
}

static void attack(attack_state *a, const char *only, int victim)
{
  for (uint64_t i = 0; i < N_ATTACKS; i++) {
    if (!only || strcmp(only, attacks[i].name) == 0) attacks[i].make(a);
    tell_turn(a, i + 1);
    /* The job works on meanwhile. */
    while (shmem_uint64_g(&variables.answer, victim) != i + 1)
      while (ucp_worker_progress(a->s.worker)) continue;
  }
}

static void suffer(field *heap)
{
  for (uint64_t i = 0; i < N_ATTACKS; i++) {
    shmem_uint64_wait_until(&variables.turn, SHMEM_CMP_EQ, i + 1);
    expect_pattern(heap, "heap", attacks[i].name);
    expect_pattern(&variables, "variables", attacks[i].name);
    variables.answer = i + 1;
  }
}

int main(int argc, char **argv)
{
  shmem_init();
  int me = shmem_my_pe(), victim = shmem_n_pes() - 1;
  attack_state a = {.heap = shmem_malloc(sizeof *a.heap), .large = malloc(LARGE)};
  memset(a.heap, 0, sizeof *a.heap);
  memset(a.large, 0xbd, LARGE);
  fill(a.heap);
  fill(&variables);
  raw_address = (uint64_t)(uintptr_t)a.heap->before + 4096;
  shmem_barrier_all();
  if (me == 0) {
    become_stranger(&a.s, victim);
    a.place = place_of_variables();
    attack(&a, argc > 1 ? argv[1] : NULL, victim);
    leave(&a.s);
    printf("foreign %llu malformed %llu\n", (unsigned long long)a.foreign, (unsigned long long)a.malformed);
  } else if (me == victim) {
    suffer(a.heap);
  }
  shmem_barrier_all();
  shmem_finalize();
  return failures != 0;
}
