/*
 * transport_ucx.c - the transport by UCX: active messages of its UCP layer, and its remote memory access where hardware
 * supports that.
 *
 * With remote memory access enabled, UCX emulates it over TCP. Then any process that reaches the port may write to any
 * address of this process, unchecked. So it is enabled only if there is hardware, and then TCP is not used.
 * WATTLE_RMA=on, for tests, enables it without that check.
 *
 * UCX 1.13 also trusts the frames of its own protocol, enabled or not. So only the job's other nodes can reach its
 * ports (ports/port_filter.h), and it does not listen on public addresses (docs/security.md).
 */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>
#include <ucs/debug/log_def.h>

#include "base/error.h"
#include "fabric/net.h"
#include "fabric/ucx/agreement.h"
#include "fabric/ports/open_ports.h"
#include "fabric/transport.h"
#include "fabric/ucx/ucx_devices.h"
#include "fabric/ucx/ucx_paths.h"
#include "node/boot_text.h"
#include "os/locale.h"

enum { ADDRESS_BYTES = 4096 };

/* The connections to a PE, by the messages that they carry. Each is an endpoint that is made at first use. */
enum lane { ORDERED, EAGER_UNORDERED, RENDEZVOUS_UNORDERED, N_LANES };

/* The connections to one PE, and whether hardware can access its memory. */
typedef struct contact {
  ucp_ep_h lanes[N_LANES];
  enum { UNKNOWN, HARDWARE, MESSAGES } rma;
  bool unflushed; /* there were puts since the last flush; it is listed in ucx.unflushed */
} contact;

/* Memory that this process opened to others, or a key to the memory of another one. */
typedef struct registration {
  struct registration *next;
  ucp_mem_h memory;
  ucp_rkey_h key;
} registration;

/* A pending operation and its completion function. */
typedef struct waiting {
  struct ucx *u;
  struct waiting *next_free;
  wtl_done_fn done;
  void *arg;
  ucp_dt_iov_t piece; /* the data, for calls that take them as an I/O vector */
} waiting;

typedef struct ucx {
  wtl_transport base; /* first: callers know only this */
  wtl_boot *boot;
  wtl_transport_callbacks callbacks;
  ucp_context_h context;
  ucp_worker_h worker;
  contact *contacts;           /* n_pes */
  int *unflushed, n_unflushed; /* PEs with puts that the next flush covers */
  unsigned flushing;           /* endpoints that the present flush waits for */
  wtl_done_fn flushed;         /* called when there are none, with: */
  void *flushed_arg;
  registration *registration;
  waiting *free_waiting;
  bool received; /* `arrived` has received the data of the current message */
  bool rma;      /* remote memory access is enabled in UCX */
} ucx;

static ucx *of(const wtl_transport *t)
{
  return (ucx *)(uintptr_t)t;
}

static void lost(ucx *u, int pe, ucs_status_t status)
{
  u->callbacks.lost(u->callbacks.owner, pe, ucs_status_string(status));
}

static void on_peer_error(void *arg, ucp_ep_h ep, ucs_status_t status)
{
  ucx *u = arg;
  for (int pe = 0; pe < u->boot->n_pes; pe++)
    for (int lane = 0; lane < N_LANES; lane++)
      if (u->contacts[pe].lanes[lane] == ep) lost(u, pe, status);
}

static ucp_ep_h connect_to(ucx *u, int pe)
{
  char text[2 * ADDRESS_BYTES + 1];
  unsigned char address[ADDRESS_BYTES + 1];
  ucs_status_t status;
  ucp_ep_h ep = NULL;
  if (u->boot->ops->lookup(u->boot, pe, "wattle.ucx", text, sizeof text) != 0 ||
      wtl_boot_read_bytes(text, address, sizeof address) <= 0) {
    lost(u, pe, UCS_ERR_NO_ELEM);
    return NULL;
  }
  ucp_ep_params_t params = {
      .field_mask =
          UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER,
      .address = (const ucp_address_t *)address,
      .err_mode = UCP_ERR_HANDLING_MODE_PEER,
      .err_handler = {.cb = on_peer_error, .arg = u},
  };
  status = ucp_ep_create(u->worker, &params, &ep);
  if (status != UCS_OK) lost(u, pe, status);
  return ep;
}

static ucp_ep_h endpoint_of(ucx *u, int pe, enum lane lane)
{
  ucp_ep_h *ep = &u->contacts[pe].lanes[lane];
  return *ep ? *ep : (*ep = connect_to(u, pe));
}

static ucp_ep_h endpoint(ucx *u, int pe)
{
  return endpoint_of(u, pe, ORDERED);
}

/* --- the end of an operation -------------------------------------------------------------------------------------- */

static waiting *wait_for(ucx *u, wtl_done_fn done, void *arg)
{
  waiting *w = u->free_waiting;
  if (w)
    u->free_waiting = w->next_free;
  else if (!(w = malloc(sizeof *w)))
    abort();
  w->u = u;
  w->done = done;
  w->arg = arg;
  return w;
}

static void wait_over(waiting *w)
{
  w->next_free = w->u->free_waiting;
  w->u->free_waiting = w;
}

/* After a failure `done` is not called: the connection is lost, which on_peer_error reports, or is being closed. */
static void on_done(void *request, ucs_status_t status, void *arg)
{
  waiting *w = arg;
  ucp_request_free(request);
  wait_over(w);
  if (status == UCS_OK) w->done(w->arg);
}

static void on_received(void *request, ucs_status_t status, size_t n, void *arg)
{
  on_done(request, status, arg);
}

/* Handles the result of a UCX call: the operation is complete, is pending, or has failed. */
static void begun(ucx *u, int pe, ucs_status_ptr_t request, waiting *w)
{
  if (UCS_PTR_IS_PTR(request)) return;
  wait_over(w);
  if (UCS_PTR_IS_ERR(request))
    lost(u, pe, UCS_PTR_STATUS(request)); /* `done` is never called */
  else
    w->done(w->arg);
}

static ucp_request_param_t notify(waiting *w)
{
  return (ucp_request_param_t){
      .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA, .cb.send = on_done, .user_data = w};
}

/*
 * Small messages leave by a copy and send(). UCX would send them without a copy, by sendmsg() with three pieces, which
 * costs the kernel more than the copy (0.3 us of a round trip of 14 us). UCX copies data that it gets as an I/O vector.
 */
enum { COPIED_BYTES = 2048 };
#define ZCOPY_THRESHOLD "8k"

/*
 * RX_SEGMENT is how much UCX reads from a TCP connection at a time, so large messages are sent in pieces of this size.
 * Long pieces need few system calls. But a piece, its copies and the kernel's pages should fit into a core's cache. 1
 * MiB over veth takes 0.24 ms by 128k, 0.28 by 64k, 0.35 by 32k; by 256k 0.25 or, mostly, 0.75. TX_SEGMENT is the
 * buffer for copies: UCX takes one for each large message under way and never frees it. So it has space only for
 * messages that are short enough to be copied (ZCOPY_THRESHOLD).
 *
 * A rendezvous asks the target first, and the answer arrives behind all that the target sends meanwhile. It saves
 * nothing here, for data are copied out of the segment either way. So a message that fits into a segment is sent
 * eagerly.
 */
#define RX_SEGMENT "128k"
#define TX_SEGMENT "16k"

/* --- messages --------------------------------------------------------------------------------------------------- */

static enum lane lane_of(enum wtl_transport_send_mode mode)
{
  return mode == WTL_SEND_EAGER_UNORDERED        ? EAGER_UNORDERED
         : mode == WTL_SEND_RENDEZVOUS_UNORDERED ? RENDEZVOUS_UNORDERED
                                                 : ORDERED;
}

static void ucx_send(wtl_transport *t, int pe, const wtl_transport_message *m)
{
  ucx *u = of(t);
  waiting *w = wait_for(u, m->done, m->arg);
  ucp_request_param_t how = notify(w);
  ucp_ep_h ep = endpoint_of(u, pe, lane_of(m->mode));
  const void *data = m->data;
  size_t n = m->n;
  if (!ep) return;
  if (!wtl_transport_may_send_later(m->mode) || n <= WTL_NET_MOST)
    how.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS, how.flags = UCP_AM_SEND_FLAG_EAGER;
  if (!m->header_bytes && n <= COPIED_BYTES) {
    w->piece = (ucp_dt_iov_t){(void *)(uintptr_t)data, n};
    how.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE, how.datatype = ucp_dt_make_iov();
    data = &w->piece;
    n = 1;
  }
  begun(u, pe, ucp_am_send_nbx(ep, m->kind, m->header, m->header_bytes, data, n, &how), w);
}

static void ucx_receive(wtl_transport *t, void *handle, void *to, size_t n, wtl_done_fn done, void *arg)
{
  ucx *u = of(t);
  waiting *w = wait_for(u, done, arg);
  ucp_request_param_t how = notify(w);
  how.cb.recv_am = on_received;
  u->received = true;
  begun(u, u->boot->pe, ucp_am_recv_data_nbx(u->worker, handle, to, n, &how), w);
}

static ucs_status_t take(ucx *u, unsigned message, const void *header, size_t header_bytes, void *data, size_t n,
                         const ucp_am_recv_param_t *how)
{
  bool later = how->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV;
  u->received = false;
  u->callbacks.arrived(u->callbacks.owner, message, header, header_bytes, data, n, later);
  return u->received ? UCS_INPROGRESS : UCS_OK; /* UCS_OK: data that have not arrived yet are dropped */
}

#define TAKE(name, message)                                                                                            \
  static ucs_status_t name(void *arg, const void *header, size_t header_bytes, void *data, size_t n,                   \
                           const ucp_am_recv_param_t *how)                                                             \
  {                                                                                                                    \
    return take(arg, message, header, header_bytes, data, n, how);                                                     \
  }
TAKE(take_1, 1)
TAKE(take_2, 2)
TAKE(take_3, 3)
TAKE(take_4, 4)

static int set_handlers(ucx *u)
{
  static const ucp_am_recv_callback_t handlers[] = {take_1, take_2, take_3, take_4};
  for (unsigned i = 0; i < sizeof handlers / sizeof handlers[0]; i++) {
    ucp_am_handler_param_t h = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                                              UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG,
                                .id = i + 1,
                                .flags = UCP_AM_FLAG_WHOLE_MSG,
                                .cb = handlers[i],
                                .arg = u};
    if (ucp_worker_set_am_recv_handler(u->worker, &h) != UCS_OK) return -1;
  }
  return 0;
}

static bool ucx_progress(wtl_transport *t)
{
  return ucp_worker_progress(of(t)->worker) != 0;
}

static int ucx_descriptor(const wtl_transport *t)
{
  int fd = -1;
  ucp_worker_get_efd(of(t)->worker, &fd);
  return fd;
}

static bool ucx_arm(wtl_transport *t)
{
  return ucp_worker_arm(of(t)->worker) == UCS_OK;
}

/* --- paths ------------------------------------------------------------------------------------------------------- */

/* The paths that ucx_paths has collected so far. */
typedef struct path_list {
  char *out;
  size_t size;
} path_list;

static void add_path(void *arg, const char *path)
{
  path_list *l = arg;
  size_t n = strlen(l->out), length = strlen(path);
  for (const char *at = l->out; (at = strstr(at, path)) != NULL; at += length)
    if ((at == l->out || at[-1] == ',') && (at[length] == ',' || !at[length])) return;
  if (n + length + 2 <= l->size) snprintf(l->out + n, l->size - n, "%s%s", n ? "," : "", path);
}

/* The nodes of a job are alike, so that the first contact shows the paths to all. */
static void ucx_paths(const wtl_transport *t, char *out, size_t size)
{
  const ucx *u = of(t);
  ucp_ep_h ep = NULL;
  *out = '\0';
  for (int pe = 0; pe < u->boot->n_pes && !ep; pe++) ep = u->contacts[pe].lanes[ORDERED];
  if (ep) wtl_ucx_paths_each(ep, add_path, &(path_list){out, size});
}

/* --- remote memory access --------------------------------------------------------------------------------------- */

static void find_hardware(void *found, const char *path)
{
  if (wtl_ucx_is_hardware(path)) *(bool *)found = true;
}

/* The nodes have agreed on hardware. With very many PEs UCX may still connect by datagrams only, over which it would
 * imitate remote memory access. */
static bool ucx_has_rma(wtl_transport *t, int pe)
{
  ucx *u = of(t);
  contact *c = &u->contacts[pe];
  bool found = false;
  if (!u->rma) return false;
  if (c->rma == UNKNOWN) {
    ucp_ep_h ep = endpoint(u, pe);
    if (ep) wtl_ucx_paths_each(ep, find_hardware, &found);
    c->rma = found ? HARDWARE : MESSAGES;
  }
  return c->rma == HARDWARE;
}

static registration *new_registration(ucx *u)
{
  registration *l = calloc(1, sizeof *l);
  if (!l) return NULL;
  l->next = u->registration;
  u->registration = l;
  return l;
}

static int ucx_offer(wtl_transport *t, void *start, size_t n, void *key, size_t *length)
{
  ucx *u = of(t);
  ucp_mem_map_params_t params = {
      .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH, .address = start, .length = n};
  registration *l = new_registration(u);
  void *packed;
  size_t packed_bytes;
  if (!l || ucp_mem_map(u->context, &params, &l->memory) != UCS_OK) return -1;
  if (ucp_rkey_pack(u->context, l->memory, &packed, &packed_bytes) != UCS_OK) return -1;
  bool fits = packed_bytes <= *length;
  if (fits) memcpy(key, packed, *length = packed_bytes);
  ucp_rkey_buffer_release(packed);
  return fits ? 0 : -1;
}

static void *ucx_accept(wtl_transport *t, int pe, const void *key)
{
  ucx *u = of(t);
  registration *l = new_registration(u);
  ucp_ep_h ep = endpoint(u, pe);
  return l && ep && ucp_ep_rkey_unpack(ep, key, &l->key) == UCS_OK ? l->key : NULL;
}

static void ucx_put(wtl_transport *t, int pe, const wtl_transport_rma *r)
{
  ucx *u = of(t);
  waiting *w = wait_for(u, r->done, r->arg);
  ucp_request_param_t how = notify(w);
  ucp_ep_h ep = endpoint(u, pe);
  if (!ep) return;
  if (!u->contacts[pe].unflushed) u->unflushed[u->n_unflushed++] = pe;
  u->contacts[pe].unflushed = true;
  begun(u, pe, ucp_put_nbx(ep, r->here, r->n, r->key->address + r->offset, r->key->handle, &how), w);
}

static void ucx_get(wtl_transport *t, int pe, const wtl_transport_rma *r)
{
  ucx *u = of(t);
  waiting *w = wait_for(u, r->done, r->arg);
  ucp_request_param_t how = notify(w);
  ucp_ep_h ep = endpoint(u, pe);
  if (!ep) return;
  begun(u, pe, ucp_get_nbx(ep, r->here, r->n, r->key->address + r->offset, r->key->handle, &how), w);
}

static void endpoint_flushed(void *arg)
{
  ucx *u = arg;
  if (--u->flushing == 0) u->flushed(u->flushed_arg);
}

/* UCX's flush of a worker begins one endpoint in each call of progress, also if there is no event. A thread that sleeps
 * between two calls would delay it. So the endpoints are flushed one by one, those with puts only. */
static void ucx_flush(wtl_transport *t, wtl_done_fn done, void *arg)
{
  ucx *u = of(t);
  u->flushing = 1; /* this function */
  u->flushed = done;
  u->flushed_arg = arg;
  for (int i = 0; i < u->n_unflushed; i++) {
    int pe = u->unflushed[i];
    waiting *w = wait_for(u, endpoint_flushed, u);
    ucp_request_param_t how = notify(w);
    u->contacts[pe].unflushed = false;
    u->flushing++;
    begun(u, pe, ucp_ep_flush_nbx(endpoint(u, pe), &how), w);
  }
  u->n_unflushed = 0;
  endpoint_flushed(u);
}

/* --- messages that UCX logs --------------------------------------------------------------------------------------- */

static _Atomic bool is_closing;

/*
 * Suppresses two messages that UCX logs as errors and that are none. If two PEs connect to each other at the same
 * moment, UCX closes one of the two connections and may still try to read from it. And at the end, a peer that closes
 * its connections a moment earlier looks like a failure.
 */
static ucs_log_func_rc_t on_ucx_progress(const char *file, unsigned line, const char *function, ucs_log_level_t level,
                                         const ucs_log_component_config_t *component, const char *message,
                                         va_list arguments)
{
  WTL_LOCALE_APART;
  char text[512];
  if (is_closing) return UCS_LOG_FUNC_RC_STOP;
  vsnprintf(text, sizeof text, message, arguments);
  return strstr(text, "recv(-1)") || strstr(text, "send(-1)") ? UCS_LOG_FUNC_RC_STOP : UCS_LOG_FUNC_RC_CONTINUE;
}

/* --- start and stop --------------------------------------------------------------------------------------------- */

/* Sets a default, unless the user has set the variable. It does not set the variable itself, which an MPI of the
 * program would read, too. */
static void set_default(ucp_config_t *config, const char *variable, const char *name, const char *value)
{
  if (!getenv(variable)) ucp_config_modify(config, name, value);
}

/* UCX 1.13 knows the sizes of TCP's segments without their "TCP_", and UCX 1.18 only with it. */
static void set_segments(ucp_config_t *config)
{
  unsigned major, minor, release;
  ucp_get_version(&major, &minor, &release);
  size_t skipped = major == 1 && minor < 18 ? strlen("TCP_") : 0;
  set_default(config, "UCX_TCP_TX_SEG_SIZE", &"TCP_TX_SEG_SIZE"[skipped], TX_SEGMENT);
  set_default(config, "UCX_TCP_RX_SEG_SIZE", &"TCP_RX_SEG_SIZE"[skipped], RX_SEGMENT);
}

/*
 * Over RDMA, UCX connects two processes by datagrams. If a datagram is not answered within 30 s, UCX takes the peer for
 * lost, and 1.13.1 may then abort the process. A live peer can be busy for longer: 16 PEs on two emulated cores were.
 * The heartbeat finds a lost node, so UCX waits longer than that, and at least five minutes.
 */
static void set_patience(ucp_config_t *config, double silence_s)
{
  enum { LEAST_S = 5 * 60, NEVER_S = 24 * 60 * 60 };
  char text[32];
  snprintf(text, sizeof text, "%.0fs", silence_s > 0 ? fmax(LEAST_S, 2 * silence_s) : NEVER_S);
  set_default(config, "UCX_UD_TIMEOUT", "UD_TIMEOUT", text);
}

/* Chooses interfaces if the user names none. If there is hardware, TCP is not used, unless the user asks for it. */
static void choose_devices(ucp_config_t *config, const wtl_ucx_devices *d)
{
  bool by_tcp = !d->hardware || getenv("UCX_TLS");
  if (by_tcp && d->names) set_default(config, "UCX_NET_DEVICES", "NET_DEVICES", d->names);
}

static ucs_status_t open_worker(ucx *u, const wtl_settings *settings, const wtl_ucx_devices *devices)
{
  enum wtl_rma_use rma = (enum wtl_rma_use)settings->rma.number;
  /* By the number of connections UCX chooses between one queue pair for each and shared ones. */
  ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS |
                                       UCP_PARAM_FIELD_ESTIMATED_NUM_PPN,
                         .features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP,
                         .estimated_num_eps = (size_t)(u->boot->n_pes - u->boot->n_local),
                         .estimated_num_ppn = (size_t)u->boot->n_local};
  ucp_worker_params_t worker = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                .thread_mode = UCS_THREAD_MODE_SERIALIZED};
  ucp_config_t *config;
  ucs_status_t status;
  if ((status = ucp_config_read(NULL, NULL, &config)) != UCS_OK) return status;
  u->rma = devices->hardware || rma == WTL_RMA_ON;
  if (u->rma) params.features |= UCP_FEATURE_RMA;
  ucp_config_modify(config, "KEEPALIVE_INTERVAL", "5s");
  /* Near PEs use the arena; UCX's own shared memory would only add polling. */
  set_default(config, "UCX_TLS", "TLS", devices->hardware ? "^shm,tcp" : "^shm");
  choose_devices(config, devices);
  set_default(config, "UCX_ZCOPY_THRESH", "ZCOPY_THRESH", ZCOPY_THRESHOLD);
  set_segments(config);
  if (devices->hardware) set_patience(config, settings->silence.seconds);
  status = ucp_init(&params, config, &u->context);
  ucp_config_release(config);
  return status == UCS_OK ? ucp_worker_create(u->context, &worker, &u->worker) : status;
}

/* Hardware is used if all nodes have it and the user leaves the choice to the network. */
static int agree(ucx *u, const wtl_settings *settings, wtl_ucx_devices *devices, char *error, size_t size)
{
  char note[512];
  if (settings->rma.number != WTL_RMA_AUTO) return devices->hardware = false, 0;
  if (wtl_agreement_publish(u->boot, devices->hardware) != 0 || u->boot->ops->fence(u->boot) != 0 ||
      wtl_agreement_read(u->boot, &devices->hardware, note, sizeof note) != 0) {
    snprintf(error, size, "boot by %s: the nodes cannot agree on their network devices", u->boot->ops->name);
    return WTL_EXIT_UNAVAILABLE;
  }
  if (*note && u->boot->pe == 0) wtl_message_print("%s", note);
  return 0;
}

typedef struct opening {
  ucx *u;
  const wtl_settings *settings;
  wtl_ucx_devices devices;
} opening;

static int open_ucx(void *arg, char *error, size_t size)
{
  opening *o = arg;
  ucs_status_t status = open_worker(o->u, o->settings, &o->devices);
  if (status == UCS_OK) return 0;
  snprintf(error, size, "the network between nodes (UCX) does not start: %s", ucs_status_string(status));
  return WTL_EXIT_UNAVAILABLE;
}

/* Opens the worker after a check of UCX_NET_DEVICES. UCX itself only warns of missing devices, and then reaches no far
 * PE. */
static int open_on_devices(ucx *u, const wtl_settings *settings, char *error, size_t size)
{
  opening o = {.u = u, .settings = settings};
  const char *named = getenv("UCX_NET_DEVICES");
  int rc = WTL_EXIT_CONFIG;
  wtl_ucx_devices_find(&o.devices);
  if (wtl_ucx_devices_lack(&o.devices, named))
    snprintf(error, size, "UCX_NET_DEVICES=%s: this node has no such network device, but %s", named, o.devices.all);
  else if ((rc = agree(u, settings, &o.devices, error, size)) == 0)
    rc = wtl_open_guarded(settings, u->boot, open_ucx, &o, error, size);
  wtl_ucx_devices_free(&o.devices);
  return rc;
}

static int publish_address(ucx *u)
{
  ucp_address_t *address;
  size_t length;
  if (ucp_worker_get_address(u->worker, &address, &length) != UCS_OK) return -1;
  char *text = calloc(2, length + 1);
  for (size_t i = 0; text && i < length; i++) sprintf(text + 2 * i, "%02x", ((unsigned char *)address)[i]);
  ucp_worker_release_address(u->worker, address);
  int rc = text && length <= ADDRESS_BYTES ? u->boot->ops->publish(u->boot, "wattle.ucx", text) : -1;
  free(text);
  return rc;
}

extern const wtl_transport_ops wtl_transport_ucx;

static int ucx_start(wtl_transport **out, const wtl_settings *settings, wtl_boot *boot,
                     const wtl_transport_callbacks *callbacks, char *error, size_t size)
{
  ucx *u = calloc(1, sizeof *u);
  int rc;
  is_closing = false;
  ucs_log_push_handler(on_ucx_progress);
  if (u) {
    u->base.ops = &wtl_transport_ucx;
    u->boot = boot;
    u->callbacks = *callbacks;
    u->contacts = calloc((size_t)boot->n_pes, sizeof *u->contacts);
    u->unflushed = calloc((size_t)boot->n_pes, sizeof *u->unflushed);
  }
  if (!u || !u->contacts || !u->unflushed)
    return snprintf(error, size, "no memory for the network (UCX)"), WTL_EXIT_OSERR;
  if ((rc = open_on_devices(u, settings, error, size)) != 0) return rc;
  if (set_handlers(u) != 0 || publish_address(u) != 0) {
    snprintf(error, size, "boot by %s: this PE cannot publish its network address", boot->ops->name);
    return WTL_EXIT_UNAVAILABLE;
  }
  *out = &u->base;
  return 0;
}

static void close_endpoint(ucx *u, ucp_ep_h ep)
{
  ucp_request_param_t how = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
  ucs_status_ptr_t r = ucp_ep_close_nbx(ep, &how);
  if (!UCS_PTR_IS_PTR(r)) return;
  while (ucp_request_check_status(r) == UCS_INPROGRESS) ucp_worker_progress(u->worker);
  ucp_request_free(r);
}

static void ucx_stop(wtl_transport *t)
{
  ucx *u = of(t);
  is_closing = true;
  for (registration *l = u->registration; l; l = l->next)
    if (l->key) ucp_rkey_destroy(l->key);
  /* All PEs have synchronized, so no operation is pending. Connections are closed by force, for no PE reads them any
   * more. */
  for (int pe = 0; pe < u->boot->n_pes; pe++)
    for (int lane = 0; lane < N_LANES; lane++)
      if (u->contacts[pe].lanes[lane]) close_endpoint(u, u->contacts[pe].lanes[lane]);
  ucp_worker_destroy(u->worker);
  for (registration *l = u->registration, *next; l; l = next) {
    next = l->next;
    if (l->memory) ucp_mem_unmap(u->context, l->memory);
    free(l);
  }
  ucp_cleanup(u->context);
  ucs_log_pop_handler();
  for (waiting *w = u->free_waiting, *next; w; w = next) next = w->next_free, free(w);
  free(u->contacts);
  free(u->unflushed);
  free(u);
}

const wtl_transport_ops wtl_transport_ucx = {
    .name = "ucx",
    .keeps_order = true, /* one connection, and no rendezvous up to WTL_NET_MOST */
    .start = ucx_start,
    .stop = ucx_stop,
    .send = ucx_send,
    .receive = ucx_receive,
    .progress = ucx_progress,
    .descriptor = ucx_descriptor,
    .arm = ucx_arm,
    .paths = ucx_paths,
    .has_rma = ucx_has_rma,
    .offer = ucx_offer,
    .accept = ucx_accept,
    .put = ucx_put,
    .get = ucx_get,
    .flush = ucx_flush,
};
