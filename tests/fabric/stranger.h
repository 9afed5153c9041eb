/*
 * stranger.h - a UCX client beside the library's, which represents any process that can reach a PE's port.
 *
 * It gets addresses and the job cookie from PMIx, as only processes of the job can. Any process may then send what it
 * sends.
 */
#ifndef WTL_TESTS_STRANGER_H
#define WTL_TESTS_STRANGER_H

#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>

typedef struct stranger {
  ucp_context_h context;
  ucp_worker_h worker;
  ucp_ep_h ep;
  uint64_t cookie; /* of the job */
} stranger;

__attribute__((noreturn)) static void give_up(const char *what)
{
  fprintf(stderr, "the stranger cannot: %s\n", what);
  exit(2);
}

/* Keys end with how often the library has started (src/node/boot_pmix.c). */
static void look_up(int pe, const char *key, char *text, size_t size)
{
  pmix_proc_t peer;
  pmix_value_t *value = NULL;
  PMIX_LOAD_PROCID(&peer, getenv("PMIX_NAMESPACE"), (pmix_rank_t)pe);
  if (PMIx_Get(&peer, key, NULL, 0, &value) != PMIX_SUCCESS) give_up(key);
  snprintf(text, size, "%s", value->data.string);
  PMIX_VALUE_RELEASE(value);
}

static void on_lost(void *arg, ucp_ep_h ep, ucs_status_t status)
{
  fprintf(stderr, "the stranger has lost its connection: %s\n", ucs_status_string(status));
}

static void connect_to(stranger *s, int pe)
{
  char text[16384], *address;
  look_up(pe, "wattle.ucx.1", text, sizeof text);
  size_t n = strlen(text) / 2;
  address = malloc(n);
  for (size_t i = 0; i < n; i++) sscanf(text + 2 * i, "%2hhx", (unsigned char *)&address[i]);
  ucp_ep_params_t params = {
      .field_mask =
          UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER,
      .address = (const ucp_address_t *)(const void *)address,
      .err_mode = UCP_ERR_HANDLING_MODE_PEER,
      .err_handler = {.cb = on_lost},
  };
  if (ucp_ep_create(s->worker, &params, &s->ep) != UCS_OK) give_up("reach the PE");
  free(address);
}

/* Reaches PE `pe`. UCX's settings are the environment's by now, as the library has set them. */
static void become_stranger(stranger *s, int pe)
{
  ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                         .features = UCP_FEATURE_AM | UCP_FEATURE_RMA | UCP_FEATURE_TAG | UCP_FEATURE_STREAM |
                                     UCP_FEATURE_AMO64 | UCP_FEATURE_WAKEUP};
  ucp_worker_params_t worker = {0};
  ucp_config_t *config;
  char text[64];
  if (ucp_config_read(NULL, NULL, &config) != UCS_OK || ucp_init(&params, config, &s->context) != UCS_OK ||
      ucp_worker_create(s->context, &worker, &s->worker) != UCS_OK)
    give_up("start UCX");
  ucp_config_release(config);
  look_up(0, "wattle.cookie.1", text, sizeof text);
  s->cookie = strtoull(text, NULL, 16);
  connect_to(s, pe);
}

static void finish(stranger *s, ucs_status_ptr_t request)
{
  if (!UCS_PTR_IS_PTR(request)) return;
  while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(s->worker);
  ucp_request_free(request);
}

/* Sends an active message and waits until its buffers may be used again; `eager` or, where it is long, by
 * rendezvous. */
static void send_message(stranger *s, unsigned id, const void *header, size_t header_bytes, const void *data, size_t n,
                         bool eager)
{
  ucp_request_param_t how = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                             .flags = eager ? UCP_AM_SEND_FLAG_EAGER : UCP_AM_SEND_FLAG_RNDV};
  finish(s, ucp_am_send_nbx(s->ep, id, header, header_bytes, data, n, &how));
}

/* Closes without waiting: a refused message has no reply, either. */
static void leave(stranger *s)
{
  ucp_request_param_t how = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
  finish(s, ucp_ep_close_nbx(s->ep, &how));
  ucp_worker_destroy(s->worker);
  ucp_cleanup(s->context);
}

#endif
