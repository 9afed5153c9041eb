/*
 * packets.h - messages cut into packets of fixed size, and put together again.
 *
 * libfabric promises no order of completions, and no bound for its buffers of long messages. So a message travels in
 * packets that its providers send eagerly, each with a number. Packets of one lane that arrive early wait for those
 * before them. Two lanes lead to a PE, so unordered messages do not wait behind ordered ones.
 */
#ifndef WTL_FABRIC_OFI_PACKETS_H
#define WTL_FABRIC_OFI_PACKETS_H

#include "fabric/transport.h"

/* libfabric's layer for messages over connections (ofi_rxm) copies and sends at once up to 16 KiB. A message of EFA
 * itself ("efa-direct") has at most one frame of about 8 KiB. */
enum { WTL_PACKET_BYTES = 16000, WTL_PACKET_SHORT_BYTES = 8000, WTL_PACKET_LANES = 2, WTL_HEADER_MOST = 64 };

typedef struct wtl_packet {
  uint64_t token;  /* of the target, which only PEs of its job know */
  uint64_t length; /* of the whole message without its header */
  uint64_t at;     /* of these data in the message */
  uint32_t from;   /* PE */
  uint32_t number; /* of the packet on its lane */
  uint16_t bytes;  /* of data in this packet */
  uint8_t kind, lane, header_bytes, later;
  uint8_t padding[2];
  unsigned char payload[]; /* the message's header (first packet only), padded to 8 bytes; then data */
} wtl_packet;

/* How many bytes of data fit into a packet of `bytes`. */
#define WTL_PACKET_DATA(bytes) ((bytes) - sizeof(wtl_packet) - WTL_HEADER_MOST)

/* --- sending ------------------------------------------------------------------------------------------------------ */

typedef struct wtl_outgoing {
  struct wtl_outgoing *next;
  wtl_transport_message m;
  size_t sent;        /* bytes of data that are in packets */
  unsigned under_way; /* packets that are not complete */
} wtl_outgoing;

/* Fills in `f` with the next part of the message and returns the packet's length in bytes, at most `bytes`. Token, PE
 * and number are the caller's. */
size_t wtl_packet_fill(wtl_packet *f, wtl_outgoing *o, size_t bytes);

/* --- receiving ---------------------------------------------------------------------------------------------------- */

/* A packet that came before those in front of it. */
typedef struct wtl_early_packet {
  struct wtl_early_packet *next;
  uint32_t number;
  size_t length;
  _Alignas(8) unsigned char copy[]; /* of the packet */
} wtl_early_packet;

/* One lane from one PE. */
typedef struct wtl_incoming {
  uint32_t expected; /* number of the next packet */
  unsigned n_early;
  wtl_early_packet *early;
  /* The message of several packets that is arriving. */
  bool is_open, is_taken;
  unsigned char *whole; /* where its data go, if the target has given no place; owned */
  unsigned char *to;    /* ... or the target's place, NULL: they are dropped */
  uint64_t length, arrived;
  unsigned kind;
  unsigned char header[WTL_HEADER_MOST];
  size_t header_bytes;
  wtl_done_fn done;
  void *arg;
} wtl_incoming;

/* Takes a packet of `length` bytes and calls `home->arrived` for each message that is complete, or that asks first for
 * its place (then with the lane as the handle). Returns false if it is malformed, or if memory is short. */
bool wtl_incoming_take(wtl_incoming *in, const wtl_packet *f, size_t length, const wtl_transport_callbacks *home);

/* The target's place for the data of the message that `arrived` was called for. */
void wtl_incoming_place(wtl_incoming *in, void *to, wtl_done_fn done, void *arg);

void wtl_incoming_close(wtl_incoming *in);

#endif
