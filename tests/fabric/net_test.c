/*
 * net_test.c - tests that each message is checked before anything is written.
 *
 * The messages are those of other jobs, broken ones, replies without a request, and random mutants of good ones.
 * Pending operations must also stay bounded.
 */
#define POST_SLICE_BYTES 8192

#include "power/check.h"
#include "fabric/post.h"
#include "fabric/records.h"

/* PE 1 is the victim. The messages are forged as if PE 0 had sent them. */
enum { SENDER, VICTIM };

typedef struct seen {
  unsigned char memory[sizeof posts[0].memory];
  wtl_net_counts counts;
  int completed;
} seen;

static seen look(void)
{
  seen s = {.counts = wtl_net_count(posts[VICTIM].net), .completed = posts[VICTIM].completed};
  memcpy(s.memory, posts[VICTIM].memory, sizeof s.memory);
  return s;
}

static bool untouched(const seen *s)
{
  return memcmp(s->memory, posts[VICTIM].memory, sizeof s->memory) == 0 && s->completed == posts[VICTIM].completed;
}

/* Since `before`: nothing written, and so many messages dropped. */
static bool dropped(const seen *before, uint64_t foreign, uint64_t malformed)
{
  wtl_net_counts now = wtl_net_count(posts[VICTIM].net);
  return untouched(before) && now.foreign == before->counts.foreign + foreign &&
         now.malformed == before->counts.malformed + malformed && now.received == before->counts.received;
}

static uint64_t cookie(void)
{
  return posts[VICTIM].net->cookie;
}

static void arrive_batch(const pack *p)
{
  arrive(VICTIM, WIRE_BATCH, NULL, 0, &p->head, sizeof p->head + p->used);
}

static pack batch_of(uint64_t with_cookie, uint32_t from)
{
  return (pack){.head = {with_cookie, from, 0}};
}

static pack store_of_8(void)
{
  pack p = batch_of(cookie(), SENDER);
  add(&p, WIRE_STORE, 0, 64, 0, 8, 8);
  return p;
}

/* --- of another job ----------------------------------------------------------------------------------------------- */

static void messages_of_another_job_are_dropped_and_counted(void)
{
  open_posts();
  seen before = look();
  pack p = store_of_8();
  const wire_large put = {cookie() ^ 1, SENDER, 0, 0, 0, 0};
  p.head.cookie ^= 1ull << 63;
  arrive_batch(&p);
  p = store_of_8();
  p.head.from = POST_PES; /* its job has more PEs */
  arrive_batch(&p);
  p.head.from = UINT32_MAX;
  arrive_batch(&p);
  arrive(VICTIM, WIRE_PUT, &put, sizeof put, p.data, p.used);
  arrive_later(VICTIM, WIRE_PUT, &put, sizeof put, p.data, p.used);
  arrive(VICTIM, WIRE_DATA, &put, sizeof put, p.data, p.used);
  CHECK(dropped(&before, 6, 0));
  CHECK(posts[VICTIM].received == 0);
  close_posts();
}

static void foreign_messages_are_dropped_and_counted(void)
{
  open_posts();
  seen before = look();
  pack p = store_of_8();
  wire_large put = {cookie(), SENDER, 0, 0, 0, 0};
  uint64_t n = 0;
  for (size_t length = 0; length < 64; length++) {
    char header[64] = "";
    memcpy(header, &p.head, sizeof p.head);
    arrive(VICTIM, WIRE_BATCH, header, length, p.data, p.used), n++;
    memcpy(header, &put, sizeof put);
    if (length != sizeof put) arrive(VICTIM, WIRE_PUT, header, length, p.data, p.used), n++;
    if (length != sizeof put) arrive(VICTIM, WIRE_DATA, header, length, p.data, p.used), n++;
    if (length != sizeof put) arrive(VICTIM, WIRE_LARGE_AM, header, length, p.data, p.used), n++;
  }
  for (unsigned message = 0; message < 300; message++)
    if (message < WIRE_BATCH || message > WIRE_LARGE_AM) arrive(VICTIM, message, &put, sizeof put, p.data, p.used), n++;
  CHECK(dropped(&before, n, 0));
  close_posts();
}

/* A sign of life from nowhere must not keep a lost node alive. */
static void a_sign_of_life_of_another_job_is_none(void)
{
  open_posts();
  pack p = batch_of(cookie() + 1, SENDER);
  arrive_batch(&p);
  CHECK(!posts[VICTIM].net->has_received);
  p.head.cookie = cookie();
  arrive_batch(&p);
  CHECK(posts[VICTIM].net->has_received);
  close_posts();
}

/* --- broken ones -------------------------------------------------------------------------------------------------- */

typedef struct broken {
  const char *what;
  wire_record r;
  size_t data; /* bytes that follow */
} broken;

static const broken records[] = {
    {"no kind", {.kind = 0}, 0},
    {"a message of a room above that is not there", {.kind = WIRE_AM, .n = 8}, 8},
    {"an unknown kind", {.kind = 99}, 0},
    {"a store beyond the end", {.kind = WIRE_STORE, .offset = SLICE_BYTES - 4, .n = 8}, 8},
    {"a store far beyond the end", {.kind = WIRE_STORE, .offset = (uint64_t)1 << 40, .n = 8}, 8},
    {"a store whose end wraps", {.kind = WIRE_STORE, .offset = UINT64_MAX - 3, .n = 8}, 8},
    {"a store of a segment that is none", {.kind = WIRE_STORE, .segment = 2, .n = 8}, 8},
    {"a store of another segment that is none", {.kind = WIRE_STORE, .segment = UINT32_MAX, .n = 8}, 8},
    {"a store beyond the end of the small segment",
     {.kind = WIRE_STORE, .segment = 1, .offset = CONTROL_BYTES - 1, .n = 8},
     8},
    {"a store longer than its data", {.kind = WIRE_STORE, .n = 64}, 8},
    {"a store longer than any batch", {.kind = WIRE_STORE, .n = WIRE_BATCH_BYTES + 1}, 8},
    {"a store of everything", {.kind = WIRE_STORE, .n = UINT32_MAX}, 8},
    {"a store whose padded length wraps", {.kind = WIRE_STORE, .n = UINT32_MAX - 6}, 8},
    {"a load beyond the end", {.kind = WIRE_LOAD, .offset = SLICE_BYTES, .n = 1}, 0},
    {"a load of everything", {.kind = WIRE_LOAD, .n = UINT32_MAX}, 0},
    {"a load whose end wraps", {.kind = WIRE_LOAD, .offset = UINT64_MAX - 3, .n = 8}, 0},
    {"a load of a segment that is none", {.kind = WIRE_LOAD, .segment = 7, .n = 8}, 0},
    {"an atomic operation without one", {.kind = WIRE_AMO, .n = 0}, 0},
    {"an atomic operation of another length", {.kind = WIRE_AMO, .n = sizeof(wtl_atomic) + 8}, sizeof(wtl_atomic) + 8},
    {"an answer nobody asked for", {.kind = WIRE_ANSWER, .token = 1, .n = 8}, 8},
    {"an answer to a token out of range", {.kind = WIRE_ANSWER, .token = UINT64_MAX, .n = 8}, 8},
    {"an answer to a flush nobody asked for", {.kind = WIRE_ANSWER}, 0},
    {"a store of nothing", {.kind = WIRE_STORE}, 0},
    {"a load of nothing", {.kind = WIRE_LOAD}, 0},
    {"a key nobody wanted", {.kind = WIRE_KEY, .n = 64}, 64},
    {"the wish for a key of a segment that has none", {.kind = WIRE_WANT_KEY, .segment = 1}, 0},
    {"the wish for a key far away", {.kind = WIRE_WANT_KEY, .offset = (uint64_t)1 << 50}, 0},
};

static void broken_records_are_dropped_and_counted(void)
{
  for (size_t i = 0; i < sizeof records / sizeof records[0]; i++) {
    open_posts();
    seen before = look();
    pack p = batch_of(cookie(), SENDER);
    const wire_record *r = &records[i].r;
    add(&p, r->kind, r->segment, r->offset, r->token, r->n, records[i].data);
    arrive_batch(&p);
    if (!dropped(&before, 0, 1)) fprintf(stderr, "%s is not dropped\n", records[i].what);
    CHECK(dropped(&before, 0, 1));
    close_posts();
  }
}

/* op, size, offset */
static const struct {
  uint32_t op, size;
  uint64_t offset;
} operations[] = {{WTL_AMO_ADD, 0, 0},
                  {WTL_AMO_ADD, 2, 0},
                  {WTL_AMO_ADD, 16, 0},
                  {WTL_AMO_ADD, UINT32_MAX, 0},
                  {WTL_AMO_XOR + 1, 8, 0},
                  {UINT32_MAX, 8, 0},
                  {WTL_AMO_ADD, 8, 4},
                  {WTL_AMO_ADD, 8, 1},
                  {WTL_AMO_SWAP, 4, 2},
                  {WTL_AMO_SET, 8, SLICE_BYTES},
                  {WTL_AMO_CSWAP, 8, UINT64_MAX - 7}};

static void atomic_operations_that_are_none_are_dropped_and_counted(void)
{
  for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
    open_posts();
    seen before = look();
    pack p = batch_of(cookie(), SENDER);
    wtl_atomic amo = {operations[i].op, operations[i].size, 7, 0};
    memcpy(add(&p, WIRE_AMO, 0, operations[i].offset, 5, sizeof amo, sizeof amo), &amo, sizeof amo);
    arrive_batch(&p);
    CHECK(dropped(&before, 0, 1));
    close_posts();
  }
}

static void more_records_than_there_are_is_broken(void)
{
  open_posts();
  pack p = store_of_8();
  seen before = look();
  p.head.records = 2;
  arrive_batch(&p);
  p.head.records = UINT32_MAX;
  arrive_batch(&p);
  CHECK(wtl_net_count(posts[VICTIM].net).malformed == before.counts.malformed + 2);
  CHECK(canaries_live(VICTIM));
  close_posts();
}

static void large_ones_that_belong_nowhere_are_dropped_and_counted(void)
{
  static char data[4 * SLICE_BYTES];
  const wire_large wrong[] = {{0, SENDER, 0, SLICE_BYTES - 8, 0, 0},
                              {0, SENDER, 0, UINT64_MAX, 0, 0},
                              {0, SENDER, 9, 0, 0, 0},
                              {0, SENDER, 1, 0, 0, 0},
                              {0, SENDER, 0, SLICE_BYTES + 1, 0, 0}};
  open_posts();
  seen before = look();
  uint64_t n = 0;
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    for (int message = WIRE_PUT; message <= WIRE_DATA; message++) {
      wire_large h = wrong[i];
      h.cookie = cookie();
      arrive(VICTIM, (unsigned)message, &h, sizeof h, data, 4096), n++;
      arrive_later(VICTIM, (unsigned)message, &h, sizeof h, data, 4096), n++;
      arrive_later(VICTIM, (unsigned)message, &h, sizeof h, data, (size_t)1 << 40), n++;
    }
  const wire_large all = {cookie(), SENDER, 0, 0, 0, 0};
  arrive(VICTIM, WIRE_PUT, &all, sizeof all, data, sizeof data), n++;
  CHECK(dropped(&before, 0, n));
  CHECK(posts[VICTIM].received == 0);
  CHECK(queue == NULL);
  close_posts();
}

/* --- answers
 * -------------------------------------------------------------------------------------------------------------------------
 * / */

static void forget(letter *l)
{
  l->done(l->arg);
  free(l);
}

static uint64_t token_of_last_letter(void)
{
  letter *l = take_letter();
  wire_record r;
  memcpy(&r, (const char *)l->data + sizeof(wire_head), sizeof r);
  forget(l);
  return r.token;
}

static void arrive_answer(uint64_t token, uint64_t n, uint64_t value)
{
  pack p = batch_of(cookie(), SENDER);
  memcpy(add(&p, WIRE_ANSWER, 0, 0, token, n, n), &value, n < 8 ? n : 8);
  arrive_batch(&p);
}

static void an_answer_is_taken_once_and_only_if_it_fits(void)
{
  uint64_t to = 0;
  _Atomic uint32_t left = 0;
  open_posts();
  wtl_net_get(posts[VICTIM].net, &(wtl_net_op){.pe = SENDER, .left = &left}, &to, sizeof to);
  uint64_t token = token_of_last_letter();
  seen before = look();
  arrive_answer(token ^ ((uint64_t)1 << 32), 8, 1); /* of an earlier one */
  arrive_answer(token + 1, 8, 2);
  arrive_answer(token, 4, 3);
  arrive_answer(token, 16, 4);
  arrive_answer(token, 0, 5);
  CHECK(dropped(&before, 0, 5) && to == 0 && left == 1);
  arrive_answer(token, 8, 6);
  CHECK(to == 6 && left == 0);
  before = look();
  arrive_answer(token, 8, 7);
  CHECK(dropped(&before, 0, 1) && to == 6 && left == 0);
  close_posts();
}

static void a_large_answer_is_taken_once_and_only_if_it_fits(void)
{
  static char data[2 * SLICE_BYTES], to[SLICE_BYTES];
  _Atomic uint32_t left = 0;
  memset(data, 1, sizeof data);
  open_posts();
  wtl_net_get(posts[VICTIM].net, &(wtl_net_op){.pe = SENDER, .left = &left}, to, sizeof to);
  wire_large h = {cookie(), SENDER, 0, 0, token_of_last_letter(), 0};
  seen before = look();
  arrive_later(VICTIM, WIRE_DATA, &h, sizeof h, data, sizeof to + 1);
  arrive_later(VICTIM, WIRE_DATA, &h, sizeof h, data, sizeof to - 1);
  arrive(VICTIM, WIRE_DATA, &h, sizeof h, data, 0);
  CHECK(dropped(&before, 0, 3) && left == 1 && to[0] == 0);
  arrive_later(VICTIM, WIRE_DATA, &h, sizeof h, data, sizeof to);
  CHECK(left == 0 && to[0] == 1 && to[sizeof to - 1] == 1);
  before = look();
  arrive(VICTIM, WIRE_DATA, &h, sizeof h, data, sizeof to);
  CHECK(dropped(&before, 0, 1) && left == 0);
  close_posts();
}

static void a_flush_is_answered_once(void)
{
  const uint64_t word = 1;
  open_posts();
  wtl_net_put(posts[VICTIM].net, &(wtl_net_op){.pe = SENDER, .mode = WTL_NET_HELD}, &word, sizeof word);
  uint64_t flush = wtl_net_flush(posts[VICTIM].net);
  seen before = look();
  for (uint64_t token = 1; token < 100; token++) arrive_answer(token, 0, 0); /* the first is 2 to the 32nd */
  CHECK(dropped(&before, 0, 99) && !wtl_net_flushed(posts[VICTIM].net, flush));
  deliver_all();
  CHECK(wtl_net_flushed(posts[VICTIM].net, flush));
  before = look();
  arrive_answer((uint64_t)1 << 32, 0, 0);
  CHECK(dropped(&before, 0, 1));
  close_posts();
}

/* --- mutants ------------------------------------------------------------------------------------------------------ */

static pack random_batch(uint64_t *random)
{
  pack p = batch_of(cookie(), SENDER);
  for (uint64_t i = next_random(random) % 8; i > 0; i--) {
    uint64_t n = next_random(random) % 200, offset = next_random(random) % (SLICE_BYTES - 200);
    wtl_atomic amo = {(uint32_t)(next_random(random) % 8), next_random(random) % 2 ? 4 : 8, next_random(random), 0};
    switch (next_random(random) % 4) {
    case 0: add(&p, WIRE_STORE, 0, offset, 0, n, n); break;
    case 1: add(&p, WIRE_LOAD, 0, offset, next_random(random), n, 0); break;
    case 2: memcpy(add(&p, WIRE_AMO, 0, offset & ~7ull, i, sizeof amo, sizeof amo), &amo, sizeof amo); break;
    default: add(&p, WIRE_FLUSH, 0, 0, 0, 0, 0); break;
    }
  }
  return p;
}

/* Changes a few bytes, most of them in the records' fixed parts; sometimes cuts the end off. */
static size_t mutate(pack *p, uint64_t *random)
{
  static const uint64_t interesting[] = {0,           1,          7,          8,          4096,
                                         SLICE_BYTES, 0x7fffffff, UINT32_MAX, UINT64_MAX, UINT64_MAX - 7};
  size_t length = p->used;
  for (uint64_t i = 1 + next_random(random) % 4; i > 0 && length; i--) {
    size_t at = next_random(random) % length;
    if (next_random(random) % 2)
      p->data[at] = (char)next_random(random);
    else if ((at &= ~(size_t)7) + 8 <= length)
      memcpy(p->data + at, &interesting[next_random(random) % (sizeof interesting / 8)], 8);
  }
  if (next_random(random) % 4 == 0 && length) length -= next_random(random) % length;
  if (next_random(random) % 8 == 0) p->head.records = (uint32_t)next_random(random);
  return length;
}

/* The sender has requested nothing, so the victim's replies are dropped. */
static void forget_answers(void)
{
  for (int i = 0; i < 2; i++) {
    for (letter *l; (l = take_letter()) != NULL;) forget(l);
    wtl_net_progress(posts[VICTIM].net);
  }
}

/* Places outside are never touched, each message is counted once, and the network works on. */
static void mutants_do_no_harm_for(uint64_t seed, int many)
{
  uint64_t random = seed, to[3] = {11, 12, 13};
  _Atomic uint32_t left = 0;
  open_posts();
  wtl_net_get(posts[VICTIM].net, &(wtl_net_op){.pe = SENDER, .left = &left}, &to[1], 8);
  uint64_t token = token_of_last_letter();
  for (int i = 0; i < many; i++) {
    pack p = random_batch(&random);
    size_t length = mutate(&p, &random);
    wtl_net_counts before = wtl_net_count(posts[VICTIM].net), after;
    arrive(VICTIM, WIRE_BATCH, NULL, 0, &p.head, sizeof p.head + length);
    after = wtl_net_count(posts[VICTIM].net);
    CHECK(after.received + after.malformed + after.foreign == before.received + before.malformed + before.foreign + 1);
    forget_answers();
    if (!canaries_live(VICTIM) || to[0] != 11 || to[2] != 13) break;
  }
  CHECK(canaries_live(VICTIM));
  CHECK(to[0] == 11 && to[1] == 12 && to[2] == 13);
  arrive_answer(token, 8, 42);
  CHECK(to[1] == 42);
  close_posts();
  if (check_failures) fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
}

static void mutants_do_no_harm(void)
{
  for (uint64_t seed = 1; seed <= 20 && !check_failures; seed++) mutants_do_no_harm_for(seed, 2000);
}

/* --- bounds ------------------------------------------------------------------------------------------------------- */

static void messages_under_way_are_bounded(void)
{
  static uint64_t words[16 * MAX_FETCHES];
  _Atomic uint32_t left = 0;
  open_posts();
  size_t puts = 0, gets = 0;
  for (; wtl_net_has_space(posts[SENDER].net) && puts < 100000; puts++)
    wtl_net_put(posts[SENDER].net, &(wtl_net_op){.pe = VICTIM, .mode = WTL_NET_HELD}, words, 2000);
  CHECK(puts >= MAX_IN_FLIGHT && letters() <= MAX_IN_FLIGHT + 1);
  deliver_all();
  CHECK(wtl_net_has_space(posts[SENDER].net));
  for (; wtl_net_has_space(posts[SENDER].net) && gets < sizeof words / 8; gets++) {
    wtl_net_get(posts[SENDER].net, &(wtl_net_op){.pe = VICTIM, .left = &left}, &words[gets], 8);
    forget(take_letter()); /* it has left, but no PE replies */
  }
  CHECK(gets == MAX_FETCHES && left == MAX_FETCHES);
  close_posts();
}

/* A PE holds only few replies if no PE takes them. */
static void answers_that_no_pe_takes_are_bounded(void)
{
  open_posts();
  uint64_t copied = 0;
  for (uint64_t i = 1; i <= MAX_FETCHES; i++) {
    pack p = batch_of(cookie(), SENDER);
    add(&p, WIRE_LOAD, 0, 0, i, 4096, 0);
    arrive_batch(&p);
    wtl_net_progress(posts[VICTIM].net);
  }
  for (letter *l = queue; l; l = l->next) copied += l->n;
  CHECK(copied <= (uint64_t)2 * MAX_IN_FLIGHT * WIRE_BATCH_BYTES);
  while (queue) forget_answers();
  close_posts();
}

/* A thread that sleeps until there is space is woken when there is some. */
static void free_bytes_are_reported(void)
{
  const uint64_t word = 1;
  open_posts();
  while (wtl_net_has_space(posts[SENDER].net))
    wtl_net_put(posts[SENDER].net, &(wtl_net_op){.pe = VICTIM, .mode = WTL_NET_SIGNAL}, &word, sizeof word);
  int before = posts[SENDER].completed;
  forget(take_letter());
  CHECK(wtl_net_has_space(posts[SENDER].net));
  wtl_net_progress(posts[SENDER].net);
  CHECK(posts[SENDER].completed > before);
  close_posts();
}

TESTS(TEST(messages_of_another_job_are_dropped_and_counted), TEST(foreign_messages_are_dropped_and_counted),
      TEST(a_sign_of_life_of_another_job_is_none), TEST(broken_records_are_dropped_and_counted),
      TEST(atomic_operations_that_are_none_are_dropped_and_counted), TEST(more_records_than_there_are_is_broken),
      TEST(large_ones_that_belong_nowhere_are_dropped_and_counted), TEST(an_answer_is_taken_once_and_only_if_it_fits),
      TEST(a_large_answer_is_taken_once_and_only_if_it_fits), TEST(a_flush_is_answered_once), TEST(mutants_do_no_harm),
      TEST(messages_under_way_are_bounded), TEST(answers_that_no_pe_takes_are_bounded), TEST(free_bytes_are_reported))
