/*
 * together_test.c - tests in how many messages operations leave, and when.
 *
 * A single operation leaves at once. Operations in a row travel together. A quiet costs no message if completion was
 * requested with the data.
 */
#define POST_SLICE_BYTES (256 << 10)

#include "power/check.h"
#include "fabric/post.h"
#include "fabric/hardware.h"

enum { HERE, THERE };
enum { MANY = 100, FEW = 6 }; /* so many before a row is one, and the first that is held for */
static unsigned char data[SLICE_BYTES];

static void open_both(bool keeps_order)
{
  post_transport.keeps_order = keeps_order;
  for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i * 7 + 1);
  open_posts();
}

static wtl_place at(size_t offset)
{
  return (wtl_place){offset, 0};
}

static bool put(wtl_net_flow *flow, size_t offset, size_t n, enum wtl_net_send_mode mode)
{
  return wtl_net_put(posts[HERE].net, &(wtl_net_op){.flow = flow, .pe = THERE, .at = at(offset), .mode = mode},
                     data + offset, n);
}

static void get(int from, size_t offset, void *to, size_t n, _Atomic uint32_t *left)
{
  wtl_net_get(posts[from == THERE ? HERE : THERE].net, &(wtl_net_op){.pe = from, .at = at(offset), .left = left}, to,
              n);
}

/* An operation on the first word there; `result` may be NULL. */
static void amo(wtl_net_flow *flow, enum wtl_amo_kind kind, uint64_t operand, uint64_t *result)
{
  wtl_net_amo(posts[HERE].net, &(wtl_net_op){.flow = flow, .pe = THERE, .at = at(0), .mode = WTL_NET_NOW},
              &(wtl_atomic){kind, sizeof operand, operand, 0}, result);
}

static bool arrived(size_t offset, size_t n)
{
  return memcmp(slice_of(THERE) + offset, data + offset, n) == 0;
}

static uint32_t under_way(const wtl_net_flow *flow)
{
  return flow->all.left[0] + flow->all.left[1];
}

static uint64_t word_there(void)
{
  uint64_t word;
  memcpy(&word, slice_of(THERE), sizeof word);
  return word;
}

/* Is the flush over once all letters are delivered, and did it need so many of this side? */
static bool flush_needs(size_t more)
{
  size_t before = letters();
  uint64_t number = wtl_net_flush(posts[HERE].net);
  bool needs = letters() - before == more, is_early = wtl_net_flushed(posts[HERE].net, number);
  deliver_all();
  return needs && !is_early && wtl_net_flushed(posts[HERE].net, number);
}

static void a_few_leave_at_once(void)
{
  open_both(true);
  for (size_t i = 0; i < 3; i++) {
    CHECK(!put(NULL, i * 8, 8, WTL_NET_NOW));
    CHECK(letters() == i + 1);
  }
  deliver_all();
  CHECK(arrived(0, 24));
  CHECK(flush_needs(1)); /* the second and third were not asked for */
  close_posts();
}

static void one_and_its_quiet_are_one_message(void)
{
  const size_t sizes[] = {8, WTL_NET_MERGED, WTL_NET_MERGED + 8, WTL_NET_LARGE - 8};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    open_both(false);
    put(NULL, 0, sizes[i], WTL_NET_NOW);
    CHECK(letters() == 1 && flush_needs(0) && arrived(0, sizes[i]));
    close_posts();
  }
  open_both(false);
  amo(NULL, WTL_AMO_ADD, 5, NULL);
  CHECK(letters() == 1 && flush_needs(0) && word_there() == 5);
  close_posts();
}

static void a_row_travels_together(void)
{
  open_both(true);
  bool was_held = false;
  for (size_t i = 0; i < MANY; i++) was_held |= put(NULL, i * 8, 8, WTL_NET_NOW);
  CHECK(was_held && letters() <= FEW);
  deliver_all();
  CHECK(arrived(0, MANY * 8) && flush_needs(1));
  for (size_t i = 0; i < MANY; i++) amo(NULL, WTL_AMO_ADD, 1, NULL);
  CHECK(letters() <= FEW);
  uint64_t before = *(uint64_t *)(void *)data;
  deliver_all();
  CHECK(word_there() == before + MANY);
  close_posts();
}

static void a_wait_ends_a_row(void)
{
  open_both(true);
  for (size_t i = 0; i < MANY; i++) {
    size_t before = letters();
    CHECK(!put(NULL, i * 8, 8, WTL_NET_NOW) && letters() == before + 1);
    wtl_net_caller_waits(posts[HERE].net);
  }
  close_posts();
}

/* Each finds the answer to the one before there, and nothing held. */
static void slow_messages_leave_at_once(void)
{
  open_both(true);
  for (size_t i = 0; i < MANY; i++) {
    put(NULL, i * 8, 8, WTL_NET_NOW);
    CHECK(letters() == 1);
    deliver_all();
    CHECK(arrived(i * 8, 8));
  }
  CHECK(wtl_net_count(posts[THERE].net).sent <= MANY / 4); /* few are asked for an answer */
  close_posts();
}

static void fetches_without_a_waiter_travel_together(void)
{
  uint64_t old[MANY], got[MANY];
  for (int with_flow = 0; with_flow < 2; with_flow++) {
    open_both(true);
    wtl_net_flow *flow = with_flow ? wtl_net_flow_open(posts[HERE].net) : NULL;
    for (size_t i = 0; i < MANY; i++) amo(flow, WTL_AMO_ADD, 1, &old[i]);
    CHECK(letters() == 1);
    deliver_all();
    for (size_t i = 0; i < MANY; i++) CHECK(old[i] == i);
    wtl_net_op one = {.flow = flow, .pe = THERE, .at = at(0)};
    for (size_t i = 0; i < MANY; i++) wtl_net_get(posts[HERE].net, &one, &got[i], 8);
    CHECK(letters() == 1);
    deliver_all();
    for (size_t i = 0; i < MANY; i++) CHECK(got[i] == MANY);
    CHECK(!flow || under_way(flow) == 0);
    close_posts();
    wtl_net_flow_close(flow);
  }
}

static void a_signal_travels_with_its_data(void)
{
  open_both(false);
  put(NULL, 64, WTL_NET_MERGED, WTL_NET_AHEAD);
  CHECK(letters() == 0);
  amo(NULL, WTL_AMO_SET, 9, NULL);
  CHECK(letters() == 1 && flush_needs(0));
  CHECK(arrived(64, WTL_NET_MERGED) && word_there() == 9);
  close_posts();
}

/* Where the transport keeps the order of long ones, pieces are confirmed together; else each for itself. */
static void pieces_are_confirmed_as_the_transport_allows(void)
{
  for (int keeps_order = 0; keeps_order < 2; keeps_order++) {
    open_both(keeps_order);
    wtl_net *net = posts[HERE].net;
    size_t piece = WTL_NET_MOST;
    put(NULL, 0, piece, WTL_NET_MORE);
    put(NULL, piece, piece, WTL_NET_NOW);
    CHECK(letters() == 2);
    CHECK(wtl_net_in_order(net, NULL) == keeps_order);
    CHECK(net->peers[THERE].asked == keeps_order);
    CHECK(flush_needs(0) && arrived(0, 2 * piece));
    close_posts();
  }
}

/* More large ones than may be under way at once: those that wait may be overtaken. */
static void a_queued_message_may_be_overtaken(void)
{
  open_both(true);
  size_t n = 0;
  for (; n < 2 * ABREAST_BYTES / WTL_NET_MOST; n++) put(NULL, 0, WTL_NET_MOST, WTL_NET_HELD);
  CHECK(letters() < n && !wtl_net_in_order(posts[HERE].net, NULL));
  CHECK(flush_needs(1) && arrived(0, WTL_NET_MOST) && wtl_net_in_order(posts[HERE].net, NULL));
  close_posts();
}

/* Two PEs get from each other: the data that one requests do not wait for the data that it sends. */
static void a_long_answer_holds_up_no_request(void)
{
  static unsigned char long_one[2 * WTL_NET_MOST];
  uint64_t word = 0;
  _Atomic uint32_t left = 0, left_there = 0;
  open_both(true);
  memcpy(slice_of(THERE), data, sizeof long_one);
  memcpy(slice_of(HERE), data, sizeof word);
  get(THERE, 0, long_one, WTL_NET_MOST, &left);
  deliver_all_but_aside();
  CHECK(left == 0); /* it has asked for nothing itself yet */
  get(HERE, 0, &word, sizeof word, &left_there);
  deliver_all();
  word = 0;
  for (size_t done = 0; done < sizeof long_one; done += WTL_NET_MOST)
    get(THERE, done, long_one + done, WTL_NET_MOST, &left);
  deliver_all_but_aside();
  CHECK(left == 2 && letters() == 2);
  get(HERE, 0, &word, sizeof word, &left_there);
  deliver_all_but_aside();
  CHECK(left_there == 0 && memcmp(&word, data, sizeof word) == 0);
  CHECK(left == 2);
  deliver_all();
  CHECK(left == 0 && memcmp(long_one, data, sizeof long_one) == 0);
  close_posts();
}

/* On a line that takes no more, only the first of them is on its way: the others share the next message. */
static void answers_that_cannot_leave_travel_together(void)
{
  open_both(false);
  for (size_t i = 0; i < MANY; i++) put(NULL, 0, WTL_NET_LARGE, WTL_NET_NOW);
  for (size_t i = letters(); i > 0; i--) {
    deliver(take_letter());
    wtl_net_progress(posts[THERE].net);
  }
  size_t sent = 0;
  for (letter *l = queue; l; l = l->next)
    sent += l->from == THERE && l->mode != WTL_SEND_EAGER_UNORDERED; /* no sign of life */
  CHECK(sent == 1);
  wtl_net_progress(posts[HERE].net); /* which sends those that waited for these */
  CHECK(flush_needs(0) && arrived(0, WTL_NET_LARGE));
  CHECK(wtl_net_count(posts[THERE].net).sent < MANY / 2);
  close_posts();
}

/* A transport that reports that a message has left may be about to send other waiting ones. */
static void nothing_is_sent_while_the_transport_reports_completions(void)
{
  open_both(true);
  size_t n = 0;
  for (; n < 2 * ABREAST_BYTES / WTL_NET_MOST; n++) put(NULL, 0, WTL_NET_MOST, WTL_NET_HELD);
  put(NULL, 0, 8, WTL_NET_NOW);  /* a message, */
  put(NULL, 8, 8, WTL_NET_HELD); /* ... and one that goes when it has left */
  for (size_t before = letters(); before > 1; before--) {
    deliver(take_letter());
    CHECK(letters() == before - 1);
  }
  deliver_all();
  CHECK(flush_needs(1) && arrived(0, WTL_NET_MOST));
  close_posts();
}

/* The hardware's next operations do not wait for messages, so these must be complete before. */
static void hardware_stays_behind_fetching_operations_without_a_waiter(void)
{
  uint64_t old;
  open_both(true);
  wtl_net *net = posts[HERE].net;
  net->rma_used = true;
  CHECK(wtl_net_in_order(net, NULL));
  amo(NULL, WTL_AMO_ADD, 1, &old);
  CHECK(!wtl_net_in_order(net, NULL));
  net->rma_used = false; /* there is none here that could be flushed */
  CHECK(flush_needs(0) && word_there() == 1);
  net->rma_used = true;
  CHECK(wtl_net_in_order(net, NULL));
  net->rma_used = false;
  close_posts();
}

static void flows_are_completed_apart(void)
{
  open_both(true);
  wtl_net *net = posts[HERE].net;
  wtl_net_flow *one = wtl_net_flow_open(net), *other = wtl_net_flow_open(net);
  put(one, 0, 8, WTL_NET_NOW);
  put(other, 8, 8, WTL_NET_NOW);
  CHECK(letters() == 2);
  CHECK(under_way(one) == 1 && under_way(other) == 0); /* asked for with the data; one answer at a time */
  wtl_net_flow_flush(net, other, THERE);
  wtl_net_flow_flush(net, one, -1);
  CHECK(letters() == 3 && under_way(one) == 1 && under_way(other) == 1);
  deliver_all();
  CHECK(under_way(one) == 0 && under_way(other) == 0 && arrived(0, 16));
  for (size_t i = 0; i < MANY; i++) put(one, i * 8, 8, WTL_NET_HELD);
  CHECK(letters() == 1);
  wtl_net_flow_flush(net, one, THERE);
  deliver_all();
  CHECK(under_way(one) == 0 && arrived(0, MANY * 8));
  close_posts();
  wtl_net_flow_close(one);
  wtl_net_flow_close(other);
}

/* Operations that a thread's flush of a flow covers are in order for all threads when the flush has ended, not
 * before. */
static void a_flow_is_in_order_when_a_flush_has_ended(void)
{
  open_both(false);
  wtl_net *net = posts[HERE].net;
  wtl_net_flow *flow = wtl_net_flow_open(net);
  put(flow, 0, WTL_NET_LARGE, WTL_NET_NOW);
  CHECK(!wtl_net_in_order(net, flow));
  wtl_net_covered of_one_pe = wtl_net_flow_flush(net, flow, THERE), first = wtl_net_flow_flush(net, flow, -1);
  CHECK(under_way(flow) > 0 && !wtl_net_in_order(net, flow));
  put(flow, WTL_NET_LARGE, WTL_NET_LARGE, WTL_NET_NOW);
  wtl_net_covered both = wtl_net_flow_flush(net, flow, -1);
  deliver_all();
  CHECK(under_way(flow) == 0 && arrived(0, 2 * WTL_NET_LARGE));
  wtl_net_flow_flushed(net, flow, &flow->to[THERE], of_one_pe);
  wtl_net_flow_flushed(net, flow, &flow->all, first);
  CHECK(!wtl_net_in_order(net, flow));
  wtl_net_flow_flushed(net, flow, &flow->all, both);
  wtl_net_flow_flushed(net, flow, &flow->all, first); /* its thread comes late */
  CHECK(wtl_net_in_order(net, flow));
  close_posts();
  wtl_net_flow_close(flow);
}

/* A thread that waits for a flow's operations is not held up by those that others begin meanwhile. */
static void operations_after_a_flows_flush_are_counted_separately(void)
{
  open_both(false);
  wtl_net *net = posts[HERE].net;
  wtl_net_flow *flow = wtl_net_flow_open(net);
  put(flow, 0, WTL_NET_LARGE, WTL_NET_NOW);
  wtl_net_covered all = wtl_net_flow_flush(net, flow, -1);
  _Atomic uint32_t *mine = &flow->all.left[all.turn & 1], *later = &flow->all.left[(all.turn + 1) & 1];
  CHECK(*mine > 0 && *later == 0);
  wtl_net_flow_turn(net, &flow->all, all.turn);
  uint32_t before = *mine;
  put(flow, WTL_NET_LARGE, WTL_NET_LARGE, WTL_NET_NOW);
  CHECK(*mine == before && *later > 0);
  wtl_net_flow_turn(net, &flow->all, all.turn); /* another thread has closed it already */
  wtl_net_flow_turn(net, &flow->all, all.turn + 1);
  CHECK(flow->all.turn == all.turn + 1); /* the first one's are under way, so that its bin does not open */
  deliver_all();
  CHECK(under_way(flow) == 0 && arrived(0, 2 * WTL_NET_LARGE));
  wtl_net_flow_turn(net, &flow->all, all.turn + 1);
  CHECK(flow->all.turn == all.turn + 2);
  close_posts();
  wtl_net_flow_close(flow);
}

/* With WATTLE_MERGE=off each small operation is a message, but a put and its signal stay one, and so do a blocking put
 * and the request of its completion. */
static void nothing_travels_together_if_merging_is_off(void)
{
  open_both(true);
  wtl_net *net = posts[HERE].net;
  net->merges = false;
  for (size_t i = 0; i < MANY; i++) CHECK(!put(NULL, i * 8, 8, i % 2 ? WTL_NET_HELD : WTL_NET_NOW));
  for (size_t i = 0; i < MANY; i++) amo(NULL, WTL_AMO_ADD, 1, NULL);
  static uint64_t fetched[MANY];
  for (size_t i = 0; i < MANY; i++) get(THERE, i * 8, &fetched[i], 8, NULL);
  CHECK(letters() == 3 * MANY);
  wtl_net_flow *flow = wtl_net_flow_open(net);
  flow->batches = true;
  for (size_t i = 0; i < MANY; i++) put(flow, i * 8, 8, WTL_NET_NOW);
  CHECK(letters() == 4 * MANY);
  put(NULL, 0, 8, WTL_NET_AHEAD);
  amo(NULL, WTL_AMO_SET, 1, NULL);
  CHECK(letters() == 4 * MANY + 1);
  CHECK(wtl_net_count(net).merged == 0 && wtl_net_count(net).single == 4 * MANY + 1);
  wtl_net_flush(net);
  deliver_all();
  CHECK(memcmp(fetched + 1, data + 8, sizeof fetched - 8) == 0 && word_there() == 1);
  close_posts();
  wtl_net_flow_close(flow);
}

/* An operation is counted as merged if a message without it would have left as well. */
static void merged_operations_are_counted(void)
{
  open_both(true);
  wtl_net *net = posts[HERE].net;
  for (size_t i = 0; i < MANY; i++) put(NULL, i * 8, 8, WTL_NET_NOW);
  CHECK(wtl_net_count(net).merged == 0); /* the held ones have not left */
  wtl_net_flush(net);
  wtl_net_counts c = wtl_net_count(net);
  CHECK(c.merged + c.sent == MANY && c.single == c.sent - 1);
  deliver_all();
  CHECK(arrived(0, (size_t)MANY * 8));
  close_posts();
}

/* Opens the posts with hardware. The first put goes by a message and requests the key. */
/* No thread sleeps: the notice that came with the key is withdrawn. */
static void open_with_keys(void)
{
  open_posts_with_hardware();
  for (int i = 0; i < 3; i++) put(NULL, 0, 8, WTL_NET_NOW), deliver_all();
}

static void hardware_takes_each_put_unless_they_are_batched(void)
{
  const uint64_t expected = 3 * sizeof(uint64_t);
  open_with_keys();
  uint64_t before = wtl_net_count(posts[HERE].net).rma_bytes;
  for (size_t i = 0; i < 3; i++) put(NULL, i * 8, 8, WTL_NET_HELD);
  CHECK(letters() == 0 && wtl_net_count(posts[HERE].net).rma_bytes == before + expected);
  wtl_net_batch(posts[HERE].net, NULL, true);
  for (size_t i = 0; i < MANY; i++) put(NULL, i * 8, 8, WTL_NET_NOW);
  put(NULL, 4096, WTL_NET_BATCHED, WTL_NET_NOW);
  CHECK(letters() == 1); /* the first requests completion, and the others wait for its answer */
  CHECK(wtl_net_count(posts[HERE].net).rma_bytes == before + expected);
  put(NULL, 8192, WTL_NET_BATCHED + 1, WTL_NET_NOW);
  CHECK(letters() == 1 && wtl_net_count(posts[HERE].net).rma_bytes == before + expected + WTL_NET_BATCHED + 1);
  deliver_all();
  CHECK(arrived(0, MANY * 8) && arrived(4096, WTL_NET_BATCHED) && arrived(8192, WTL_NET_BATCHED + 1));
  wtl_net_batch(posts[HERE].net, NULL, false);
  put(NULL, 0, 8, WTL_NET_NOW);
  CHECK(letters() == 0);
  close_posts();
}

static void a_batch_of_one_context_leaves_the_others_to_hardware(void)
{
  open_with_keys();
  wtl_net_flow *batched = wtl_net_flow_open(posts[HERE].net), *other = wtl_net_flow_open(posts[HERE].net);
  wtl_net_batch(posts[HERE].net, batched, true);
  put(other, 0, 8, WTL_NET_NOW);
  put(NULL, 8, 8, WTL_NET_NOW);
  CHECK(letters() == 0);
  put(batched, 16, 8, WTL_NET_NOW);
  CHECK(letters() == 1);
  CHECK(!wtl_net_in_order(posts[HERE].net, batched)); /* hardware may overtake messages */
  deliver_all();
  wtl_net_flow_close(batched);
  wtl_net_flow_close(other);
  close_posts();
}

TESTS(TEST(nothing_travels_together_if_merging_is_off), TEST(merged_operations_are_counted), TEST(a_few_leave_at_once),
      TEST(one_and_its_quiet_are_one_message), TEST(a_row_travels_together), TEST(a_wait_ends_a_row),
      TEST(slow_messages_leave_at_once), TEST(fetches_without_a_waiter_travel_together),
      TEST(a_signal_travels_with_its_data), TEST(pieces_are_confirmed_as_the_transport_allows),
      TEST(a_queued_message_may_be_overtaken), TEST(a_long_answer_holds_up_no_request),
      TEST(answers_that_cannot_leave_travel_together), TEST(nothing_is_sent_while_the_transport_reports_completions),
      TEST(hardware_stays_behind_fetching_operations_without_a_waiter), TEST(flows_are_completed_apart),
      TEST(a_flow_is_in_order_when_a_flush_has_ended), TEST(operations_after_a_flows_flush_are_counted_separately),
      TEST(hardware_takes_each_put_unless_they_are_batched), TEST(a_batch_of_one_context_leaves_the_others_to_hardware))
