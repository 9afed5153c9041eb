/* packets_test.c - tests that messages arrive whole and in order from packets in any order, and that broken ones do not. */
#include <stdlib.h>
#include <string.h>

#include "fabric/ofi/packets.h"
#include "power/check.h"

enum { MOST = 64, FULL = WTL_PACKET_DATA(WTL_PACKET_BYTES), LONG = 3 * FULL + 17 };

static unsigned char data[LONG], place[LONG];
static struct {
  unsigned kind;
  size_t header_bytes, n;
  bool later, right;
} seen[MOST];
static unsigned n_seen, n_done;
static wtl_incoming in;
static bool takes; /* the target gives a place to messages that ask */
static size_t packet_bytes = WTL_PACKET_BYTES;

static void done(void *arg)
{
  (void)arg;
  n_done++;
}

static void arrived(void *owner, unsigned kind, const void *header, size_t header_bytes, void *bytes, size_t n,
                    bool later)
{
  seen[n_seen].kind = kind;
  seen[n_seen].header_bytes = header_bytes;
  seen[n_seen].n = n;
  seen[n_seen].later = later;
  seen[n_seen].right = later || memcmp(bytes, data, n) == 0;
  n_seen++;
  if (later && takes) wtl_incoming_place(bytes, place, done, NULL);
}

static const wtl_transport_callbacks home = {.arrived = arrived};

typedef struct sent {
  size_t n, length[MOST];
  wtl_packet *packets[MOST];
} sent;

static void open(void)
{
  for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i * 31 + i / 251);
  memset(&in, 0, sizeof in);
  memset(place, 0, sizeof place);
  n_seen = n_done = 0;
  takes = true;
}

static void send(sent *s, unsigned kind, size_t header_bytes, size_t n, enum wtl_transport_send_mode mode)
{
  wtl_outgoing o = {
      .m = {.kind = kind, .header = data, .header_bytes = header_bytes, .data = data, .n = n, .mode = mode}};
  do {
    wtl_packet *p = s->packets[s->n] = malloc(packet_bytes);
    s->length[s->n] = wtl_packet_fill(p, &o, packet_bytes);
    p->number = (uint32_t)s->n++;
  } while (o.sent < n);
}

static bool take(const sent *s, size_t i)
{
  return wtl_incoming_take(&in, s->packets[i], s->length[i], &home);
}

static void release(sent *s)
{
  for (size_t i = 0; i < s->n; i++) free(s->packets[i]);
  wtl_incoming_close(&in);
}

static void messages_of_all_lengths_arrive_whole(void)
{
  static const size_t lengths[] = {0, 1, FULL, FULL + 1, LONG};
  sent s = {0};
  open();
  for (size_t i = 0; i < 5; i++) send(&s, 1 + i % 4, i * 16, lengths[i], WTL_SEND_EAGER);
  for (size_t i = 0; i < s.n; i++) CHECK(s.length[i] <= packet_bytes && take(&s, i));
  CHECK(n_seen == 5);
  for (size_t i = 0; i < 5; i++)
    CHECK(seen[i].kind == 1 + i % 4 && seen[i].header_bytes == i * 16 && seen[i].n == lengths[i] && seen[i].right);
  release(&s);
}

static void messages_in_short_packets_arrive_whole(void)
{
  packet_bytes = WTL_PACKET_SHORT_BYTES;
  messages_of_all_lengths_arrive_whole();
  packet_bytes = WTL_PACKET_BYTES;
}

static void packets_in_any_order_make_messages_in_order(void)
{
  sent s = {0};
  open();
  for (size_t i = 0; i < 4; i++) send(&s, 1 + i, 8, i % 2 ? LONG : 100 + i, WTL_SEND_EAGER);
  for (size_t i = s.n; i-- > 0;) CHECK(take(&s, i)); /* the last one first */
  CHECK(n_seen == 4 && in.n_early == 0);
  for (size_t i = 0; i < n_seen; i++) CHECK(seen[i].kind == 1 + i && seen[i].right);
  release(&s);
}

static void a_long_message_asks_for_its_place(void)
{
  sent s = {0};
  open();
  send(&s, 2, 40, LONG, WTL_SEND_RENDEZVOUS);
  for (size_t i = 0; i < s.n; i++) {
    CHECK(n_done == 0 && take(&s, i));
    CHECK(n_seen == 1 && seen[0].later && seen[0].n == LONG);
  }
  CHECK(n_done == 1 && memcmp(place, data, LONG) == 0);
  release(&s);
}

static void a_message_without_a_place_is_dropped(void)
{
  sent s = {0};
  open();
  takes = false;
  send(&s, 2, 40, LONG, WTL_SEND_RENDEZVOUS);
  send(&s, 3, 0, 8, WTL_SEND_EAGER);
  for (size_t i = 0; i < s.n; i++) CHECK(take(&s, i));
  CHECK(n_seen == 2 && n_done == 0 && seen[1].kind == 3 && seen[1].right && place[0] == 0);
  release(&s);
}

static void broken_packets_are_refused(void)
{
  open();
  for (int what = 0; what < 7; what++) {
    sent s = {0};
    memset(&in, 0, sizeof in);
    n_seen = 0;
    send(&s, 1, 8, 100, WTL_SEND_EAGER);
    wtl_packet *p = s.packets[0];
    if (what == 0) p->kind = 0;
    if (what == 1) p->kind = 5;
    if (what == 2) p->header_bytes = WTL_HEADER_MOST + 1;
    if (what == 3) p->bytes = 101;
    if (what == 4) p->length = 99;
    if (what == 5) p->at = UINT64_MAX - 50;
    if (what == 6) s.length[0] = sizeof *p - 1;
    CHECK(!take(&s, 0) && n_seen == 0);
    release(&s);
  }
}

static void a_middle_without_a_beginning_is_refused(void)
{
  sent s = {0};
  open();
  send(&s, 1, 8, LONG, WTL_SEND_EAGER);
  s.packets[1]->number = 0;
  CHECK(!take(&s, 1) && n_seen == 0);
  release(&s);
}

TESTS(TEST(messages_of_all_lengths_arrive_whole), TEST(messages_in_short_packets_arrive_whole),
      TEST(packets_in_any_order_make_messages_in_order), TEST(a_long_message_asks_for_its_place),
      TEST(a_message_without_a_place_is_dropped), TEST(broken_packets_are_refused),
      TEST(a_middle_without_a_beginning_is_refused))
