/*
 * rings_test.c - tests that a PE that asked for rings hears of each put by hardware, however put and request cross.
 */
#define POST_SLICE_BYTES 4096

#include "power/check.h"
#include "fabric/post.h"
#include "fabric/hardware.h"
#include "fabric/records.h"

enum { HERE, THERE };

static void put(uint64_t value)
{
  wtl_net_put(posts[HERE].net, &(wtl_net_op){.pe = THERE}, &value, sizeof value);
}

static uint64_t word_there(void)
{
  uint64_t word;
  memcpy(&word, slice_of(THERE), sizeof word);
  return word;
}

static bool is_silent(void)
{
  return wtl_net_is_silent(posts[THERE].net);
}

static void ask(void)
{
  wtl_net_ask_for_rings(posts[THERE].net);
}

/* True if the ring wakes the sleepers now. */
static bool rings(void)
{
  int before = posts[THERE].changed;
  deliver_all();
  return posts[THERE].changed == before + 1 && is_silent();
}

/* The first put goes by a message and requests the key. */
static void open_with_keys(void)
{
  open_posts_with_hardware();
  put(1);
  deliver_all();
}

static void a_pe_that_gives_a_key_wakes_its_sleepers(void)
{
  open_with_keys();
  CHECK(is_silent());
  CHECK(posts[THERE].changed == 2); /* by the message, and by the key */
  put(2);
  CHECK(word_there() == 2 && posts[THERE].changed == 2 && letters() == 0);
  close_posts();
}

static void a_put_after_the_request_rings_when_it_is_stored(void)
{
  open_with_keys();
  ask();
  deliver_all();
  CHECK(!is_silent() && flushes == 0);
  put(2);
  CHECK(flushes == 1 && letters() == 0 && wtl_net_owes_rings(posts[HERE].net));
  end_flush();
  CHECK(!wtl_net_owes_rings(posts[HERE].net) && rings());
  put(3);
  CHECK(flushes == 1); /* one request, one ring */
  close_posts();
}

static void a_put_before_the_request_rings(void)
{
  open_with_keys();
  put(2);
  ask();
  CHECK(flushes == 0);
  deliver_all();
  CHECK(flushes == 1);
  end_flush();
  CHECK(rings());
  close_posts();
}

static void a_put_during_the_flush_rings_by_the_next_request(void)
{
  open_with_keys();
  ask();
  deliver_all();
  put(2);
  put(3);
  end_flush();
  CHECK(flushes == 1 && rings());
  ask();
  deliver_all();
  CHECK(flushes == 2);
  end_flush();
  CHECK(rings());
  close_posts();
}

static void a_request_during_a_flush_waits_for_the_next(void)
{
  open_with_keys();
  put(2);
  uint64_t waited = wtl_net_flush(posts[HERE].net);
  CHECK(flushes == 1);
  put(3);
  ask();
  deliver_all();
  end_flush(); /* which does not cover the second put */
  CHECK(wtl_net_flushed(posts[HERE].net, waited) && letters() == 0 && flushes == 2);
  end_flush();
  CHECK(rings());
  close_posts();
}

static void nobody_is_asked_twice(void)
{
  open_with_keys();
  ask();
  CHECK(letters() == 1);
  deliver_all();
  ask();
  CHECK(letters() == 0 && !is_silent());
  close_posts();
}

static void strays_are_dropped(void)
{
  open_with_keys();
  for (int kind = WIRE_WANT_RING; kind <= WIRE_RING; kind++) {
    pack p = {.head = {posts[THERE].net->cookie, HERE, 0}};
    add(&p, (unsigned)kind, 0, 0, 0, 0, 0);
    uint64_t malformed = wtl_net_count(posts[THERE].net).malformed;
    int changed = posts[THERE].changed;
    arrive(THERE, WIRE_BATCH, NULL, 0, &p.head, sizeof p.head + p.used);
    CHECK(wtl_net_count(posts[THERE].net).malformed == malformed + 1 && posts[THERE].changed == changed);
  }
  close_posts();
}

TESTS(TEST(a_pe_that_gives_a_key_wakes_its_sleepers), TEST(a_put_after_the_request_rings_when_it_is_stored),
      TEST(a_put_before_the_request_rings), TEST(a_put_during_the_flush_rings_by_the_next_request),
      TEST(a_request_during_a_flush_waits_for_the_next), TEST(nobody_is_asked_twice), TEST(strays_are_dropped))
