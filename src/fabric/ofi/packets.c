/* packets.c - cuts messages into packets, puts them together again, and keeps their order. */
#include "fabric/ofi/packets.h"

#include <stdlib.h>
#include <string.h>

/* More packets than a PE may have under way cannot be early. And of the messages that are put together here, none is
 * longer: puts and answers that are longer ask for their place first. */
enum { MOST_EARLY = 4096, MOST_WHOLE = 1 << 20 };

static size_t padded(size_t n)
{
  return (n + 7) & ~(size_t)7;
}

size_t wtl_packet_fill(wtl_packet *f, wtl_outgoing *o, size_t bytes)
{
  const wtl_transport_message *m = &o->m;
  size_t left = m->n - o->sent, most = WTL_PACKET_DATA(bytes), n = left < most ? left : most;
  size_t header = o->sent ? 0 : m->header_bytes;
  f->length = m->n;
  f->at = o->sent;
  f->bytes = (uint16_t)n;
  f->kind = (uint8_t)m->kind;
  f->header_bytes = (uint8_t)header;
  f->later = wtl_transport_may_send_later(m->mode);
  memset(f->padding, 0, sizeof f->padding);
  if (header) memcpy(f->payload, m->header, header);
  memset(f->payload + header, 0, padded(header) - header);
  if (n) memcpy(f->payload + padded(header), (const unsigned char *)m->data + o->sent, n);
  o->sent += n;
  o->under_way++;
  return sizeof *f + padded(header) + n;
}

static bool is_well_formed(const wtl_packet *f, size_t length)
{
  if (length < sizeof *f || f->kind < 1 || f->kind > 4 || f->header_bytes > WTL_HEADER_MOST) return false;
  if (length != sizeof *f + padded(f->header_bytes) + f->bytes) return false;
  if (f->bytes > f->length || f->at > f->length - f->bytes) return false;
  return f->bytes > 0 || f->length == 0;
}

static void finish(wtl_incoming *in, const wtl_transport_callbacks *home)
{
  in->is_open = false;
  if (in->is_taken) {
    if (in->to) in->done(in->arg);
    return;
  }
  home->arrived(home->owner, in->kind, in->header, in->header_bytes, in->whole, in->length, false);
  free(in->whole);
  in->whole = NULL;
}

/* The first of several packets. A message that may be sent later asks for its place at once. */
static bool begin(wtl_incoming *in, const wtl_packet *f, const wtl_transport_callbacks *home)
{
  in->is_taken = f->later;
  in->to = in->whole = NULL;
  in->length = f->length;
  in->arrived = 0;
  in->kind = f->kind;
  in->header_bytes = f->header_bytes;
  memcpy(in->header, f->payload, f->header_bytes);
  if (!f->later && (f->length > MOST_WHOLE || !(in->whole = malloc(f->length)))) return false;
  in->is_open = true;
  if (f->later) home->arrived(home->owner, in->kind, in->header, in->header_bytes, in, in->length, true);
  return true;
}

static bool take_next(wtl_incoming *in, const wtl_packet *f, const wtl_transport_callbacks *home)
{
  const unsigned char *data = f->payload + padded(f->header_bytes);
  if (!in->is_open && f->at != 0) return false;
  if (!in->is_open && f->bytes == f->length) {
    home->arrived(home->owner, f->kind, f->payload, f->header_bytes, (void *)(uintptr_t)data, f->length, false);
    return true;
  }
  if (!in->is_open && !begin(in, f, home)) return false;
  if (f->at != in->arrived || f->length != in->length || f->kind != in->kind) return false;
  unsigned char *to = in->is_taken ? in->to : in->whole;
  if (to) memcpy(to + f->at, data, f->bytes);
  in->arrived += f->bytes;
  if (in->arrived == in->length) finish(in, home);
  return true;
}

static bool keep(wtl_incoming *in, const wtl_packet *f, size_t length)
{
  wtl_early_packet *e = in->n_early < MOST_EARLY ? malloc(sizeof *e + length) : NULL;
  if (!e) return false;
  memcpy(e->copy, f, length);
  e->number = f->number;
  e->length = length;
  e->next = in->early;
  in->early = e;
  in->n_early++;
  return true;
}

static wtl_early_packet *take_early(wtl_incoming *in)
{
  for (wtl_early_packet **at = &in->early, *e; (e = *at) != NULL; at = &e->next)
    if (e->number == in->expected) {
      *at = e->next;
      in->n_early--;
      return e;
    }
  return NULL;
}

bool wtl_incoming_take(wtl_incoming *in, const wtl_packet *f, size_t length, const wtl_transport_callbacks *home)
{
  if (!is_well_formed(f, length)) return false;
  if (f->number != in->expected) return keep(in, f, length);
  in->expected++;
  bool good = take_next(in, f, home);
  for (wtl_early_packet *e; (e = take_early(in)) != NULL; free(e)) {
    in->expected++;
    if (!take_next(in, (const wtl_packet *)(const void *)e->copy, home)) good = false;
  }
  return good;
}

void wtl_incoming_place(wtl_incoming *in, void *to, wtl_done_fn done, void *arg)
{
  in->to = to;
  in->done = done;
  in->arg = arg;
}

void wtl_incoming_close(wtl_incoming *in)
{
  for (wtl_early_packet *e = in->early, *next; e; e = next) next = e->next, free(e);
  free(in->whole);
}
