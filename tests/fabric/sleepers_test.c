/*
 * sleepers_test.c - tests that a PE that sleeps hears of each put to it, however put, notice, withdrawal, flush and
 * ring cross, and that a PE that does not sleep is left alone.
 */
#define POST_SLICE_BYTES 16384

#include "power/check.h"
#include "fabric/post.h"
#include "fabric/hardware.h"
#include "fabric/records.h"

enum { HERE, THERE };
enum { LONG = WTL_NET_MERGED + 8 };

/* Stores `value` in the first word there. A short put may go by a message, a long one goes by hardware. */
static void put(uint64_t value, size_t n)
{
  static uint64_t from[LONG / sizeof(uint64_t)];
  from[0] = value;
  wtl_net_put(posts[HERE].net, &(wtl_net_op){.pe = THERE}, from, n);
}

static void put_short(uint64_t value)
{
  put(value, sizeof value);
}

static void put_long(uint64_t value)
{
  put(value, LONG);
}

static uint64_t word_there(void)
{
  uint64_t word;
  memcpy(&word, slice_of(THERE), sizeof word);
  return word;
}

static bool is_posted(void)
{
  return wtl_net_notice_is_posted(posts[THERE].net);
}

/* A thread of THERE is about to sleep. */
static void post_notice(void)
{
  wtl_net_post_notice(posts[THERE].net);
}

/* The first put goes by a message and requests the key. */
static void open_with_keys(void)
{
  open_posts_with_hardware();
  put_short(1);
  deliver_all();
}

/* True if `act`, and all that follows from it, wakes the sleepers. */
static bool wakes(void)
{
  int before = posts[THERE].changed;
  deliver_all();
  return posts[THERE].changed > before;
}

/* A PE whose threads do not sleep has withdrawn its notice. */
static void open_without_notice(void)
{
  open_with_keys();
  for (int i = 0; i < 2; i++) put_short(1), deliver_all();
  CHECK(!is_posted() && flushes == 0);
}

static void the_notice_comes_with_the_first_key(void)
{
  open_with_keys();
  CHECK(is_posted());
  put_short(2);
  CHECK(letters() == 1 && word_there() == 1 && wakes() && word_there() == 2);
  CHECK(wtl_net_count(posts[HERE].net).rma_bytes == 0);
  close_posts();
}

static void a_long_put_goes_by_hardware_and_rings_when_it_is_stored(void)
{
  open_with_keys();
  put_long(2);
  CHECK(flushes == 1 && word_there() == 2 && letters() == 0 && wtl_net_owes_rings(posts[HERE].net));
  end_flush();
  CHECK(!wtl_net_owes_rings(posts[HERE].net) && letters() == 1 && wakes());
  close_posts();
}

static void a_pe_that_does_not_sleep_is_left_alone(void)
{
  open_without_notice();
  int before = posts[THERE].changed;
  put_short(2);
  put_long(3);
  CHECK(letters() == 0 && flushes == 0 && word_there() == 3 && posts[THERE].changed == before);
  close_posts();
}

static void messages_while_a_thread_sleeps_are_not_in_vain(void)
{
  open_with_keys();
  posts[THERE].sleeps = true;
  for (int i = 0; i < 10; i++) put_short(2), deliver_all();
  CHECK(is_posted());
  posts[THERE].sleeps = false;
  put_short(3);
  deliver_all();
  post_notice(); /* it has slept in between */
  for (int i = 0; i < 2; i++) put_short(4), deliver_all();
  CHECK(is_posted());
  put_short(5);
  deliver_all();
  CHECK(!is_posted());
  close_posts();
}

static int changed_when_asleep;

/* A thread registers and finds the notice posted, just after it was found that none sleeps. */
static bool sleeps_next(void *owner)
{
  CHECK(is_posted());
  changed_when_asleep = ((post *)owner)->changed;
  return false;
}

static void a_thread_that_falls_asleep_during_the_withdrawal_is_woken(void)
{
  open_with_keys();
  posts[THERE].net->callbacks.sleeps = sleeps_next;
  for (int i = 0; i < 2; i++) put_short(1), deliver_all();
  CHECK(!is_posted() && posts[THERE].changed == changed_when_asleep + 1);
  post_notice();
  CHECK(is_posted() && letters() == 1);
  post_notice();
  CHECK(letters() == 1); /* HERE has it already */
  close_posts();
}

static void a_put_before_the_notice_rings(void)
{
  open_without_notice();
  put_long(2);
  post_notice();
  CHECK(flushes == 0);
  deliver_all();
  CHECK(flushes == 1);
  int before = posts[THERE].changed;
  end_flush();
  deliver_all();
  CHECK(posts[THERE].changed == before + 1);
  close_posts();
}

static void puts_during_a_flush_share_the_next_ring(void)
{
  open_with_keys();
  posts[THERE].sleeps = true;
  for (int i = 2; i < 5; i++) put_long((uint64_t)i);
  CHECK(flushes == 1);
  end_flush();
  CHECK(flushes == 2 && letters() == 1 && wakes());
  end_flush();
  CHECK(flushes == 2 && letters() == 1 && wakes());
  close_posts();
}

static void a_flush_that_has_begun_covers_no_later_put(void)
{
  open_without_notice();
  put_long(2);
  uint64_t waited = wtl_net_flush(posts[HERE].net);
  CHECK(flushes == 1);
  put_long(3);
  post_notice();
  deliver_all();
  end_flush();
  CHECK(wtl_net_flushed(posts[HERE].net, waited) && letters() == 0 && flushes == 2);
  end_flush();
  CHECK(wakes());
  close_posts();
}

/* --- fences ------------------------------------------------------------------------------------------------------ */

static bool fence_waits(void)
{
  bool waits = !wtl_net_in_order(posts[HERE].net, NULL);
  if (!waits) wtl_net_note_fence(posts[HERE].net);
  return waits;
}

static bool overtakes(size_t n)
{
  return wtl_net_overtakes(posts[HERE].net, &(wtl_net_op){.pe = THERE}, n);
}

static void quiet(void)
{
  uint64_t waited = wtl_net_flush(posts[HERE].net);
  while (!wtl_net_flushed(posts[HERE].net, waited)) {
    deliver_all();
    if (flush.done) end_flush();
  }
}

static void a_fence_waits_for_no_message_to_a_pe_that_may_sleep(void)
{
  open_with_keys();
  quiet();
  put_short(2);
  CHECK(!overtakes(LONG) && !fence_waits());
  CHECK(overtakes(LONG) && !overtakes(8));
  put_short(3);
  CHECK(overtakes(LONG) && letters() == 2);
  quiet();
  CHECK(!overtakes(LONG));
  put_long(4);
  CHECK(fence_waits());
  close_posts();
}

/* Two messages in vain; `fenced`: with a fence between them. */
static void send_in_vain(bool fenced)
{
  open_with_keys();
  quiet();
  posts[HERE].net->useless_answers = UINT16_MAX; /* so no message requests its completion */
  put_short(2);
  if (fenced) CHECK(!fence_waits());
  put_short(3);
  deliver(take_letter());
  deliver(take_letter());
  CHECK(!is_posted() && letters() == 1); /* the withdrawal */
  deliver(take_letter());
  CHECK(letters() == (fenced ? 1 : 0)); /* a request for completion */
}

static void messages_before_a_fence_are_complete_before_hardware_is_used(void)
{
  send_in_vain(true);
  put_short(4);
  CHECK(letters() == 2 && fence_waits());
  deliver_all();
  put_short(5);
  CHECK(letters() == 0 && word_there() == 5 && fence_waits());
  close_posts();
}

static void messages_without_a_fence_do_not_keep_hardware_from_use(void)
{
  send_in_vain(false);
  CHECK(fence_waits());
  put_short(4);
  CHECK(letters() == 0 && word_there() == 4);
  close_posts();
}

/* --- every order -------------------------------------------------------------------------------------------------- */

/* Stores by hardware that have not arrived: they come with the end of the first flush that began after them. */
static struct {
  char *to;
  uint64_t word;
  bool covered;
} late[16];
static int n_late;

static void put_late(wtl_transport *t, int pe, const wtl_transport_rma *r)
{
  late[n_late].to = (char *)(uintptr_t)(r->key->address + r->offset);
  late[n_late].covered = false;
  memcpy(&late[n_late++].word, r->here, sizeof(uint64_t));
  r->done(r->arg);
}

static void flush_late(wtl_transport *t, wtl_done_fn done, void *arg)
{
  for (int i = 0; i < n_late; i++) late[i].covered = true;
  rma_flush(t, done, arg);
}

static void land(void)
{
  int kept = 0;
  for (int i = 0; i < n_late; i++)
    if (late[i].covered)
      memcpy(late[i].to, &late[i].word, sizeof late[i].word);
    else
      late[kept++] = late[i];
  n_late = kept;
}

enum act { PUTS_LONG, PUTS_SHORT, FALLS_ASLEEP, TAKES_HERE, TAKES_THERE, FLUSH_ENDS, ACTS };
enum { LENGTH = 9, MOST_PUTS = 3 };

static struct {
  bool asleep;
  int changed;   /* when it fell asleep */
  uint64_t seen; /* the word then */
  uint64_t puts;
} sleeper;

/* As wtl_bell_sleep: registered, posted, and the condition checked once more. */
static void fall_asleep(void)
{
  do {
    post_notice();
    posts[THERE].sleeps = true;
    sleeper.changed = posts[THERE].changed;
    sleeper.seen = word_there();
  } while (!is_posted());
  sleeper.asleep = true;
}

/* A thread that was woken goes on if the word has changed. */
static void wake_up(void)
{
  while (sleeper.asleep && posts[THERE].changed != sleeper.changed) {
    posts[THERE].sleeps = sleeper.asleep = false;
    if (word_there() == sleeper.seen) fall_asleep();
  }
}

static bool take_at(int pe)
{
  letter **at = &queue, *l;
  while (*at && (*at)->to != pe) at = &(*at)->next;
  if (!(l = *at)) return false;
  if (!(*at = l->next)) queue_end = at;
  deliver(l);
  progress_all();
  return true;
}

/* False: there is nothing to do so. */
static bool acts(enum act act)
{
  switch (act) {
  case PUTS_LONG:
  case PUTS_SHORT:
    if (sleeper.puts == MOST_PUTS || overtakes(act == PUTS_LONG ? LONG : 8)) return false;
    put(100 + ++sleeper.puts, act == PUTS_LONG ? LONG : 8);
    fence_waits();
    break;
  case FALLS_ASLEEP:
    if (sleeper.asleep) return false;
    fall_asleep();
    break;
  case TAKES_HERE: return take_at(HERE);
  case TAKES_THERE: return take_at(THERE);
  case FLUSH_ENDS:
    if (!flush.done) return false;
    land();
    end_flush();
    break;
  default: return false;
  }
  return true;
}

static void open_late(bool with_notice)
{
  with_notice ? open_with_keys() : open_without_notice();
  post_transport.put = put_late;
  post_transport.flush = flush_late;
  memset(&sleeper, 0, sizeof sleeper);
  n_late = 0;
}

/* Nothing else happens: all arrives. Then no thread may sleep through a change of its word. */
static bool ends_well(void)
{
  bool more;
  do {
    more = acts(FLUSH_ENDS) | acts(TAKES_HERE) | acts(TAKES_THERE);
    wake_up();
  } while (more);
  return !sleeper.asleep || (word_there() == sleeper.seen && n_late == 0);
}

static int orders, lost;

/* Repeats the first `n` acts, then tries each next one. */
static void explore(bool with_notice, enum act *path, int n)
{
  for (int next = 0; next < ACTS && n < LENGTH; next++) {
    path[n] = (enum act)next;
    open_late(with_notice);
    bool possible = true;
    for (int i = 0; i <= n; i++) possible = acts(path[i]), wake_up();
    if (possible) orders++;
    if (possible && !ends_well() && !lost++)
      for (int i = 0; i <= n; i++) printf("act %d\n", (int)path[i]);
    ends_well();
    close_posts();
    if (possible) explore(with_notice, path, n + 1);
  }
}

static void no_sleeper_misses_a_put_in_any_order(void)
{
  enum act path[LENGTH];
  for (int with_notice = 0; with_notice < 2; with_notice++) {
    orders = lost = 0;
    explore(with_notice, path, 0);
    CHECK(lost == 0 && orders > 1000);
  }
}

/* --- messages that nobody may send ------------------------------------------------------------------------------- */

static void strays_are_dropped(void)
{
  open_posts_with_hardware();
  for (int kind = WIRE_NOTICE; kind <= WIRE_RING; kind++) {
    pack p = {.head = {posts[THERE].net->cookie, HERE, 0}};
    add(&p, (unsigned)kind, 0, 0, 8, 0, 0);
    uint64_t malformed = wtl_net_count(posts[THERE].net).malformed;
    int changed = posts[THERE].changed;
    arrive(THERE, WIRE_BATCH, NULL, 0, &p.head, sizeof p.head + p.used);
    CHECK(wtl_net_count(posts[THERE].net).malformed == malformed + 1 && posts[THERE].changed == changed);
  }
  close_posts();
}

TESTS(TEST(the_notice_comes_with_the_first_key), TEST(a_long_put_goes_by_hardware_and_rings_when_it_is_stored),
      TEST(a_pe_that_does_not_sleep_is_left_alone), TEST(messages_while_a_thread_sleeps_are_not_in_vain),
      TEST(a_thread_that_falls_asleep_during_the_withdrawal_is_woken), TEST(a_put_before_the_notice_rings),
      TEST(puts_during_a_flush_share_the_next_ring), TEST(a_flush_that_has_begun_covers_no_later_put),
      TEST(a_fence_waits_for_no_message_to_a_pe_that_may_sleep),
      TEST(messages_before_a_fence_are_complete_before_hardware_is_used),
      TEST(messages_without_a_fence_do_not_keep_hardware_from_use), TEST(no_sleeper_misses_a_put_in_any_order),
      TEST(strays_are_dropped))
