/*
 * transport_ofi.c - the transport by libfabric (OFI): messages over a provider's reliable datagrams (FI_EP_RDM).
 *
 * libfabric reaches networks that UCX does not, or not well: Slingshot (cxi), Omni-Path (psm3, opx), Amazon's EFA. Of
 * the providers that lead to other nodes, the first is used that has a descriptor for sleeping (FI_WAIT_FD). The order
 * is libfabric's; FI_PROVIDER names another.
 *
 * A message travels in packets (packets.h). Each packet lies in a buffer of the network, which is registered where the
 * provider needs that (FI_MR_LOCAL). The buffers bound what is under way. Puts and gets by the provider (ofi_rma.h) are
 * used where its hardware does them; with WATTLE_RMA=on, for tests, also where it imitates them.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include "base/error.h"
#include "fabric/ofi/packets.h"
#include "fabric/ofi/ofi_rma.h"
#include "fabric/ports/open_ports.h"
#include "fabric/ports/public_address.h"
#include "node/boot_text.h"
#include "os/os.h"

/* Buffers to send and to receive: 2 MiB each. One PE may fill a quarter of those to send. */
enum { N_BUFFERS = 128, MOST_TO_ONE = N_BUFFERS / 4, CQ_READS = 16, ADDRESS_BYTES = 256, NAME_BYTES = 64 };

/* A buffer for a packet, and libfabric's space for the operation. */
typedef struct buffer {
  struct fi_context2 context; /* first: completions return its address */
  int kind;                   /* WTL_OFI_MESSAGE */
  struct buffer *next_free;
  wtl_outgoing *message; /* NULL: a buffer to receive */
  int pe;
  wtl_packet *packet;
} buffer;

typedef struct contact {
  bool is_known;
  fi_addr_t address;
  uint64_t token;
  wtl_outgoing *queue[WTL_PACKET_LANES], **queue_end[WTL_PACKET_LANES]; /* not all in packets */
  uint32_t number[WTL_PACKET_LANES];                                    /* of the next packet */
  unsigned under_way;                                                   /* packets */
  bool is_listed;
  bool is_lost;
  wtl_incoming from[WTL_PACKET_LANES];
} contact;

typedef struct ofi {
  wtl_transport base; /* first: callers know only this */
  wtl_boot *boot;
  bool wants_rma; /* the user does not forbid remote memory access */
  wtl_transport_callbacks callbacks;
  struct fi_info *info;
  struct fid_fabric *fabric;
  struct fid_domain *domain;
  struct fid_av *av;
  struct fid_cq *cq;
  struct fid_ep *ep;
  struct fid_mr *mr; /* of all packets; NULL: none is needed */
  int descriptor;
  bool may_rma; /* the provider has remote memory access */
  wtl_ofi_memory registered;
  wtl_ofi_rma rma;
  uint64_t token;      /* that others send */
  contact *contacts;   /* n_pes */
  size_t packet_bytes; /* the longest packet */
  unsigned char *memory;
  buffer *buffers, *free_buffers;
  int *waiting, n_waiting; /* PEs with a queue */
} ofi;

static ofi *of(const wtl_transport *t)
{
  return (ofi *)(uintptr_t)t;
}

static void lost(ofi *o, int pe, const char *why)
{
  if (o->contacts[pe].is_lost) return;
  o->contacts[pe].is_lost = true;
  o->callbacks.lost(o->callbacks.owner, pe, why);
}

/* --- addresses ---------------------------------------------------------------------------------------------------- */

/* Publishes "PROVIDER TOKEN ADDRESS". */
static int publish_address(ofi *o)
{
  unsigned char address[ADDRESS_BYTES];
  char text[NAME_BYTES + 20 + 2 * ADDRESS_BYTES];
  size_t length = sizeof address;
  if (fi_getname(&o->ep->fid, address, &length) != 0 || !wtl_os_random(&o->token, sizeof o->token)) return -1;
  int n = snprintf(text, sizeof text, "%.60s %016llx ", o->info->fabric_attr->prov_name, (unsigned long long)o->token);
  for (size_t i = 0; i < length; i++) n += sprintf(text + n, "%02x", address[i]);
  return o->boot->ops->publish(o->boot, "wattle.ofi", text);
}

static bool connect_to(ofi *o, int pe)
{
  contact *c = &o->contacts[pe];
  char text[NAME_BYTES + 20 + 2 * ADDRESS_BYTES], provider[NAME_BYTES], digits[2 * ADDRESS_BYTES + 1], why[200];
  unsigned char address[ADDRESS_BYTES];
  unsigned long long token;
  if (c->is_known || c->is_lost) return c->is_known;
  if (o->boot->ops->lookup(o->boot, pe, "wattle.ofi", text, sizeof text) != 0 ||
      sscanf(text, "%63s %llx %512s", provider, &token, digits) != 3 ||
      wtl_boot_read_bytes(digits, address, sizeof address) <= 0) {
    lost(o, pe, "it has published no address for libfabric");
  } else if (strcmp(provider, o->info->fabric_attr->prov_name) != 0) {
    snprintf(why, sizeof why, "it uses libfabric's provider %s, and this PE %s (FI_PROVIDER sets it)", provider,
             o->info->fabric_attr->prov_name);
    lost(o, pe, why);
  } else if (fi_av_insert(o->av, address, 1, &c->address, 0, NULL) != 1) {
    lost(o, pe, "libfabric does not take its address");
  } else {
    c->token = token;
    c->is_known = true;
  }
  return c->is_known;
}

/* --- sending ------------------------------------------------------------------------------------------------------ */

static void *key_of(const ofi *o)
{
  return o->mr ? fi_mr_desc(o->mr) : NULL;
}

static void free_message(wtl_outgoing *m)
{
  wtl_done_fn done = m->m.done;
  void *arg = m->m.arg;
  free(m);
  done(arg);
}

static void release(ofi *o, buffer *b)
{
  b->next_free = o->free_buffers;
  o->free_buffers = b;
}

/* Sends the next packet of a lane. False: it cannot leave yet. */
static bool send_packet(ofi *o, int pe, int lane)
{
  contact *c = &o->contacts[pe];
  wtl_outgoing *m = c->queue[lane];
  buffer *b = o->free_buffers;
  if (!b || c->under_way >= MOST_TO_ONE) return false;
  size_t sent = m->sent, length = wtl_packet_fill(b->packet, m, o->packet_bytes);
  b->packet->token = c->token;
  b->packet->from = (uint32_t)o->boot->pe;
  b->packet->number = c->number[lane];
  b->packet->lane = (uint8_t)lane;
  ssize_t rc = fi_send(o->ep, b->packet, length, key_of(o), c->address, b);
  if (rc != 0) {
    m->sent = sent;
    m->under_way--;
    if (rc != -FI_EAGAIN) lost(o, pe, fi_strerror((int)-rc));
    return false;
  }
  o->free_buffers = b->next_free;
  b->message = m;
  b->pe = pe;
  c->number[lane]++;
  c->under_way++;
  if (m->sent == m->m.n && !(c->queue[lane] = m->next)) c->queue_end[lane] = &c->queue[lane];
  return true;
}

/* Sends what is queued for a PE as far as possible, the unordered lane first. True: nothing is left. */
static bool send_queue(ofi *o, int pe)
{
  contact *c = &o->contacts[pe];
  for (int lane = WTL_PACKET_LANES - 1; lane >= 0; lane--)
    while (c->queue[lane] && !c->is_lost)
      if (!send_packet(o, pe, lane)) return false;
  return true;
}

static void ofi_send(wtl_transport *t, int pe, const wtl_transport_message *message)
{
  ofi *o = of(t);
  contact *c = &o->contacts[pe];
  int lane = wtl_transport_is_ordered(message->mode) ? 0 : 1;
  if (!connect_to(o, pe)) return;
  wtl_outgoing *m = calloc(1, sizeof *m);
  if (!m) abort();
  m->m = *message;
  if (!c->queue[lane]) c->queue_end[lane] = &c->queue[lane];
  *c->queue_end[lane] = m;
  c->queue_end[lane] = &m->next;
  if (c->is_listed || send_queue(o, pe)) return;
  c->is_listed = true;
  o->waiting[o->n_waiting++] = pe;
}

static void send_waiting(ofi *o)
{
  int n = o->n_waiting, kept = 0;
  for (int i = 0; i < n; i++) {
    int pe = o->waiting[i];
    if (send_queue(o, pe))
      o->contacts[pe].is_listed = false;
    else
      o->waiting[kept++] = pe;
  }
  /* A completion function may have listed more behind them. */
  memmove(o->waiting + kept, o->waiting + n, (size_t)(o->n_waiting - n) * sizeof *o->waiting);
  o->n_waiting -= n - kept;
}

static void sent(ofi *o, buffer *b)
{
  wtl_outgoing *m = b->message;
  o->contacts[b->pe].under_way--;
  release(o, b);
  m->under_way--;
  if (m->sent == m->m.n && m->under_way == 0) free_message(m);
}

/* --- receiving ---------------------------------------------------------------------------------------------------- */

static int offer_buffer(ofi *o, buffer *b)
{
  b->message = NULL;
  return (int)fi_recv(o->ep, b->packet, WTL_PACKET_BYTES, key_of(o), FI_ADDR_UNSPEC, b);
}

static void received(ofi *o, buffer *b, size_t length)
{
  const wtl_packet *f = b->packet;
  /* A packet without this PE's token comes from a stranger. It is dropped without a look at the rest. */
  if (length >= sizeof *f && f->token == o->token && f->from < (uint32_t)o->boot->n_pes && f->lane < WTL_PACKET_LANES)
    wtl_incoming_take(&o->contacts[f->from].from[f->lane], f, length, &o->callbacks);
  if (offer_buffer(o, b) != 0) abort();
}

static void ofi_receive(wtl_transport *t, void *handle, void *to, size_t n, wtl_done_fn done, void *arg)
{
  wtl_incoming_place(handle, to, done, arg);
}

/* --- progress ----------------------------------------------------------------------------------------------------- */

static void take_error(ofi *o)
{
  struct fi_cq_err_entry e = {0};
  if (fi_cq_readerr(o->cq, &e, 0) != 1 || !e.op_context) return;
  buffer *b = e.op_context;
  if (b->kind == WTL_OFI_RMA) {
    wtl_ofi_operation *r = e.op_context;
    lost(o, r->pe, fi_strerror(e.err)); /* `done` is not called */
  } else if (b->message) {
    o->contacts[b->pe].under_way--;
    release(o, b); /* `done` is not called: the connection is lost */
    lost(o, b->pe, fi_strerror(e.err));
  } else if (e.err != FI_ECANCELED && offer_buffer(o, b) != 0) {
    abort();
  }
}

static bool ofi_progress(wtl_transport *t)
{
  ofi *o = of(t);
  struct fi_cq_msg_entry done[CQ_READS];
  ssize_t n = fi_cq_read(o->cq, done, CQ_READS);
  for (ssize_t i = 0; i < n; i++) {
    buffer *b = done[i].op_context;
    if (b->kind == WTL_OFI_RMA)
      wtl_ofi_rma_ended(&o->rma, done[i].op_context);
    else if (b->message)
      sent(o, b);
    else
      received(o, b, done[i].len);
  }
  if (n == -FI_EAVAIL) take_error(o);
  if (o->n_waiting) send_waiting(o);
  if (o->rma.queue) wtl_ofi_rma_continue(&o->rma);
  return n > 0 || n == -FI_EAVAIL;
}

static int ofi_descriptor(const wtl_transport *t)
{
  return of(t)->descriptor;
}

static bool ofi_arm(wtl_transport *t)
{
  ofi *o = of(t);
  struct fid *what = &o->cq->fid;
  return fi_trywait(o->fabric, &what, 1) == FI_SUCCESS;
}

static void ofi_paths(const wtl_transport *t, char *out, size_t size)
{
  const ofi *o = of(t);
  snprintf(out, size, "%s/%s", o->info->fabric_attr->prov_name, o->info->domain_attr->name);
}

/* --- remote memory access ---------------------------------------------------------------------------------------- */

/* Amazon's EFA without libfabric's own protocol above it. */
static bool is_efa_direct(const struct fi_info *info)
{
  return info->fabric_attr->name && strcmp(info->fabric_attr->name, "efa-direct") == 0;
}

/* Does its hardware move bytes between memories, so that a message is not as good? */
static bool is_hardware(const struct fi_info *info)
{
  static const char *const names[] = {"cxi", "verbs;ofi_rxm", "gni"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(info->fabric_attr->prov_name, names[i]) == 0) return true;
  return is_efa_direct(info);
}

static bool ofi_has_rma(wtl_transport *t, int pe)
{
  const ofi *o = of(t);
  return o->may_rma && is_hardware(o->info);
}

static bool ofi_copies(const wtl_transport *t)
{
  return of(t)->registered.is_needed;
}

static int ofi_offer(wtl_transport *t, void *start, size_t n, void *key, size_t *length)
{
  ofi *o = of(t);
  return o->may_rma ? wtl_ofi_rma_offer(&o->rma, start, n, key, length) : -1;
}

static void *ofi_accept(wtl_transport *t, int pe, const void *key)
{
  ofi *o = of(t);
  return connect_to(o, pe) ? wtl_ofi_rma_accept(&o->rma, key) : NULL;
}

static void ofi_put(wtl_transport *t, int pe, const wtl_transport_rma *r)
{
  ofi *o = of(t);
  wtl_ofi_rma_begin(&o->rma, pe, o->contacts[pe].address, r, true);
}

static void ofi_get(wtl_transport *t, int pe, const wtl_transport_rma *r)
{
  ofi *o = of(t);
  wtl_ofi_rma_begin(&o->rma, pe, o->contacts[pe].address, r, false);
}

static void ofi_flush(wtl_transport *t, wtl_done_fn done, void *arg)
{
  wtl_ofi_rma_flush(&of(t)->rma, done, arg);
}

/* --- start and stop ----------------------------------------------------------------------------------------------- */

static void close_endpoint(ofi *o)
{
  wtl_ofi_memory_close(&o->registered);
  if (o->ep) fi_close(&o->ep->fid);
  if (o->mr) fi_close(&o->mr->fid);
  if (o->cq) fi_close(&o->cq->fid);
  if (o->av) fi_close(&o->av->fid);
  if (o->domain) fi_close(&o->domain->fid);
  if (o->fabric) fi_close(&o->fabric->fid);
  o->ep = NULL, o->mr = NULL, o->cq = NULL, o->av = NULL, o->domain = NULL, o->fabric = NULL;
}

/* Opens an endpoint of the provider. Returns 0, or libfabric's error code with the step that failed. */
static int open_endpoint(ofi *o, struct fi_info *info, const char **step)
{
  struct fi_cq_attr cq = {.size = 4 * N_BUFFERS, .format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_FD};
  struct fi_av_attr av = {.type = FI_AV_UNSPEC, .count = (size_t)o->boot->n_pes};
  int rc;
  if ((rc = fi_fabric(info->fabric_attr, &o->fabric, NULL)) != 0) return *step = "fi_fabric", rc;
  if ((rc = fi_domain(o->fabric, info, &o->domain, NULL)) != 0) return *step = "fi_domain", rc;
  if ((rc = fi_av_open(o->domain, &av, &o->av, NULL)) != 0) return *step = "fi_av_open", rc;
  if ((rc = fi_cq_open(o->domain, &cq, &o->cq, NULL)) != 0) return *step = "fi_cq_open", rc;
  if ((rc = fi_control(&o->cq->fid, FI_GETWAIT, &o->descriptor)) != 0) return *step = "FI_GETWAIT", rc;
  if ((rc = fi_endpoint(o->domain, info, &o->ep, NULL)) != 0) return *step = "fi_endpoint", rc;
  if ((rc = fi_ep_bind(o->ep, &o->av->fid, 0)) != 0) return *step = "fi_ep_bind", rc;
  if ((rc = fi_ep_bind(o->ep, &o->cq->fid, FI_TRANSMIT | FI_RECV)) != 0) return *step = "fi_ep_bind", rc;
  if ((rc = fi_enable(o->ep)) != 0) return *step = "fi_enable", rc;
  return 0;
}

/* Opens remote memory access, if the provider has it. Returns 0 or libfabric's error code. */
static int open_rma(ofi *o, const struct fi_info *info)
{
  o->may_rma = info->caps & FI_RMA;
  o->rma = (wtl_ofi_rma){.memory = &o->registered};
  return o->may_rma ? wtl_ofi_memory_make_copies(&o->registered) : 0;
}

static int register_buffers(ofi *o, const struct fi_info *info)
{
  size_t n = (size_t)2 * N_BUFFERS * WTL_PACKET_BYTES;
  wtl_ofi_memory_open(&o->registered, o->domain, o->ep, info);
  return o->registered.is_needed ? wtl_ofi_memory_register(&o->registered, o->memory, n, FI_SEND | FI_RECV, &o->mr) : 0;
}

static int offer_buffers(ofi *o)
{
  int rc = 0;
  o->free_buffers = NULL;
  for (int i = 0; i < 2 * N_BUFFERS && rc == 0; i++) {
    buffer *b = &o->buffers[i];
    b->packet = (wtl_packet *)(void *)(o->memory + (size_t)i * WTL_PACKET_BYTES);
    if (i < N_BUFFERS)
      release(o, b);
    else
      rc = offer_buffer(o, b);
  }
  return rc;
}

static int try(ofi *o, struct fi_info *info, const char **step)
{
  int rc = open_endpoint(o, info, step);
  o->packet_bytes = is_efa_direct(info) ? WTL_PACKET_SHORT_BYTES : WTL_PACKET_BYTES;
  if (rc == 0 && (rc = register_buffers(o, info)) != 0) *step = "fi_mr_reg";
  if (rc == 0 && (rc = open_rma(o, info)) != 0) *step = "fi_mr_reg";
  if (rc == 0 && (rc = offer_buffers(o)) != 0) *step = "fi_recv";
  if (rc != 0) close_endpoint(o);
  return rc;
}

enum sort { PRIVATE, PUBLIC, LOOPBACK, N_SORTS };

static bool is_loopback(const struct sockaddr *at)
{
  if (at->sa_family == AF_INET)
    return ntohl(((const struct sockaddr_in *)(const void *)at)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  return at->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)at)->sin6_addr);
}

/* By the address that the provider would listen on. Addresses that are not of the internet protocol are private. */
static enum sort sort_of(const struct fi_info *info)
{
  const struct sockaddr *at = info->src_addr;
  bool is_ip = info->addr_format == FI_SOCKADDR_IN || info->addr_format == FI_SOCKADDR_IN6;
  if (!at || !is_ip) return strcmp(info->domain_attr->name, "lo") == 0 ? LOOPBACK : PRIVATE;
  if (is_loopback(at)) return LOOPBACK;
  return wtl_address_is_public(at) ? PUBLIC : PRIVATE;
}

static bool leads_to_other_nodes(const struct fi_info *info)
{
  static const char *const inside[] = {"shm", "sm2"};
  for (size_t i = 0; i < sizeof inside / sizeof inside[0]; i++)
    if (strcmp(info->fabric_attr->prov_name, inside[i]) == 0) return false;
  return true;
}

static struct fi_info *hints(uint64_t caps)
{
  struct fi_info *h = fi_allocinfo();
  if (!h) return NULL;
  h->ep_attr->type = FI_EP_RDM;
  h->caps = caps;
  h->mode = FI_CONTEXT | FI_CONTEXT2;
  h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  h->domain_attr->threading = FI_THREAD_DOMAIN;
  h->domain_attr->av_type = FI_AV_UNSPEC;
  h->domain_attr->resource_mgmt = FI_RM_ENABLED;
  return h;
}

static bool ofi_has_provider(const char *name)
{
  struct fi_info *h = hints(FI_MSG), *all = NULL;
  if (!h) return false;
  h->fabric_attr->prov_name = strdup(name); /* fi_freeinfo frees it */
  bool found = fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, h, &all) == 0;
  fi_freeinfo(h);
  if (all) fi_freeinfo(all);
  return found;
}

/* Opens the first provider that will do: first on private addresses, then on public ones, then on loopback. `why` gets
 * the reasons against the others. */
static bool open_with(ofi *o, uint64_t caps, char *why, size_t size)
{
  struct fi_info *h = hints(caps), *all = NULL;
  int rc = h ? fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, h, &all) : -FI_ENOMEM;
  if (h) fi_freeinfo(h);
  if (rc != 0) snprintf(why, size, ": %s", fi_strerror(-rc));
  for (int sort = PRIVATE; sort < N_SORTS; sort++)
    for (struct fi_info *i = all; i && !o->info; i = i->next) {
      const char *step = "";
      if ((int)sort_of(i) != sort || !leads_to_other_nodes(i)) continue;
      if ((rc = try(o, i, &step)) == 0) {
        o->info = fi_dupinfo(i);
        continue;
      }
      size_t n = strlen(why);
      snprintf(why + n, size - n, "; %s: %s: %s", i->fabric_attr->prov_name, step, fi_strerror(-rc));
    }
  if (all) fi_freeinfo(all);
  return o->info;
}

static int open_any(void *arg, char *error, size_t size)
{
  ofi *o = arg;
  char why[256] = "";
  if (o->wants_rma && open_with(o, FI_MSG | FI_RMA, why, sizeof why)) return 0;
  *why = '\0';
  if (open_with(o, FI_MSG, why, sizeof why)) return 0;
  snprintf(error, size,
           "the network between nodes (libfabric) has no provider with messages and a descriptor to sleep on%s", why);
  return WTL_EXIT_UNAVAILABLE;
}

extern const wtl_transport_ops wtl_transport_ofi;

static int ofi_start(wtl_transport **out, const wtl_settings *settings, wtl_boot *boot,
                     const wtl_transport_callbacks *callbacks, char *error, size_t size)
{
  ofi *o = calloc(1, sizeof *o);
  size_t n = (size_t)boot->n_pes;
  int rc;
  if (o) {
    o->base.ops = &wtl_transport_ofi;
    o->boot = boot;
    o->callbacks = *callbacks;
    o->wants_rma = settings->rma.number != WTL_RMA_OFF;
    o->contacts = calloc(n, sizeof *o->contacts);
    o->waiting = calloc(2 * n, sizeof *o->waiting); /* a PE may be listed again while the first list is sent */
    o->buffers = calloc((size_t)2 * N_BUFFERS, sizeof *o->buffers);
    o->memory = aligned_alloc(64, (size_t)2 * N_BUFFERS * WTL_PACKET_BYTES);
  }
  if (!o || !o->contacts || !o->waiting || !o->buffers || !o->memory)
    return snprintf(error, size, "no memory for the network (libfabric)"), WTL_EXIT_OSERR;
  if ((rc = wtl_open_guarded(settings, boot, open_any, o, error, size)) != 0) return rc;
  if (publish_address(o) != 0) {
    snprintf(error, size, "boot by %s: this PE cannot publish its network address", boot->ops->name);
    return WTL_EXIT_UNAVAILABLE;
  }
  *out = &o->base;
  return 0;
}

static void ofi_stop(wtl_transport *t)
{
  ofi *o = of(t);
  close_endpoint(o);
  fi_freeinfo(o->info);
  for (int pe = 0; pe < o->boot->n_pes; pe++)
    for (int lane = 0; lane < WTL_PACKET_LANES; lane++) wtl_incoming_close(&o->contacts[pe].from[lane]);
  free(o->contacts);
  free(o->waiting);
  free(o->buffers);
  free(o->memory);
  free(o);
}

const wtl_transport_ops wtl_transport_ofi = {
    .name = "ofi",
    .keeps_order = true, /* packets are numbered */
    .start = ofi_start,
    .stop = ofi_stop,
    .send = ofi_send,
    .receive = ofi_receive,
    .progress = ofi_progress,
    .descriptor = ofi_descriptor,
    .arm = ofi_arm,
    .has_provider = ofi_has_provider,
    .paths = ofi_paths,
    .has_rma = ofi_has_rma,
    .copies = ofi_copies,
    .offer = ofi_offer,
    .accept = ofi_accept,
    .put = ofi_put,
    .get = ofi_get,
    .flush = ofi_flush,
};
