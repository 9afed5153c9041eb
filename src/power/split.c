/* split.c - splits a node's joules in proportion to modelled joules. */
#include "power/split.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "power/figure.h"

typedef struct sum {
  double joules, uncertainty;
} sum;

static sum total(const wattle_joules_t *idle, const wattle_joules_t *pe, size_t n)
{
  sum s = {idle->joules, idle->uncertainty};
  for (size_t i = 0; i < n; i++) {
    s.joules += pe[i].joules;
    s.uncertainty += pe[i].uncertainty; /* linear: all use the same profile, so their errors are correlated */
  }
  return s;
}

void wtl_add_up(const wattle_joules_t *idle_model, const wattle_joules_t *pe_model, size_t n, wattle_joules_t *node)
{
  sum s = total(idle_model, pe_model, n);
  double interval_s = idle_model->interval_s;
  wtl_figure_none(node, idle_model->domain, WATTLE_SCOPE_NODE, interval_s);
  memcpy(node->source, idle_model->source, sizeof node->source);
  if (isnan(s.joules) || isnan(s.uncertainty)) return;
  node->provenance = WATTLE_MODELLED;
  node->joules = s.joules;
  node->uncertainty = s.uncertainty;
  node->covered_s = interval_s;
}

/*
 * Returns the half-width of a share own / (own + others): its change if both are wrong by their half-widths in opposite
 * directions. Both come from the same profile, so much of the error cancels in fact. The half-width is an upper bound.
 */
static double share_uncertainty(double own, double own_uncertainty, double others, double others_uncertainty)
{
  double whole = own + others;
  if (!(whole > 0)) return 1;
  double share = own / whole, most = own + own_uncertainty, least = fmax(0, own - own_uncertainty);
  double high = most > 0 ? most / (most + fmax(0, others - others_uncertainty)) : 0;
  double low = least > 0 ? least / (least + others + others_uncertainty) : 0;
  return fmax(high - share, share - low);
}

static void take_share(const wattle_joules_t *node, const wattle_joules_t *model, sum all, wattle_scope_t scope,
                       wattle_joules_t *out)
{
  wtl_figure_none(out, node->domain, scope, node->interval_s);
  const char *profile = strncmp(model->source, "model ", 6) == 0 ? model->source + 6 : model->source;
  snprintf(out->source, sizeof out->source, "%.38s split by model %.38s", node->source, profile);
  if (isnan(node->joules) || isnan(all.joules) || isnan(all.uncertainty)) return;
  double others = fmax(0, all.joules - model->joules),
         others_uncertainty = fmax(0, all.uncertainty - model->uncertainty);
  double share = all.joules > 0 ? model->joules / all.joules : 0;
  double uncertainty = share_uncertainty(model->joules, model->uncertainty, others, others_uncertainty);
  out->provenance = WATTLE_MODELLED;
  out->joules = node->joules * share;
  out->uncertainty = node->uncertainty * share + node->joules * uncertainty;
  out->covered_s = node->covered_s;
}

static void copy_share(const wattle_joules_t *node, const wattle_joules_t *model, wattle_scope_t scope,
                       wattle_joules_t *out)
{
  *out = *model;
  memcpy(out->domain, node->domain, sizeof out->domain);
  out->scope = scope;
  if (node->provenance != WATTLE_UNAVAILABLE) return;
  out->provenance = WATTLE_UNAVAILABLE;
  out->joules = out->uncertainty = NAN;
  out->covered_s = 0;
}

void wtl_split(const wattle_joules_t *node, const wattle_joules_t *idle_model, const wattle_joules_t *pe_model,
               size_t n, wattle_joules_t *idle, wattle_joules_t *part, size_t stride)
{
  bool is_sum = strcmp(node->source, idle_model->source) == 0; /* the sum of the model's own parts */
  if (node->provenance == WATTLE_UNAVAILABLE || is_sum) {
    copy_share(node, idle_model, node->scope, idle);
    for (size_t i = 0; i < n; i++) copy_share(node, &pe_model[i], WATTLE_SCOPE_PROCESS, &part[i * stride]);
    return;
  }
  sum all = total(idle_model, pe_model, n);
  take_share(node, idle_model, all, node->scope, idle);
  for (size_t i = 0; i < n; i++) take_share(node, &pe_model[i], all, WATTLE_SCOPE_PROCESS, &part[i * stride]);
  if (all.joules > 0 || isnan(node->joules) || isnan(all.joules)) return;
  idle->joules = node->joules; /* no PE drew anything by the model, so all joules are idle */
  idle->uncertainty = node->uncertainty;
}

/* Sets a figure to `share` of the joules of an accelerator. */
static void take_use(const wattle_joules_t *node, double share, size_t users, wattle_joules_t *out)
{
  wtl_figure_none(out, node->domain, WATTLE_SCOPE_DEVICE, node->interval_s);
  if (isnan(node->joules)) return;
  snprintf(out->source, sizeof out->source, "%.70s split by its processes", node->source);
  double may_err = users > 1 && share > 0 ? fmax(share, 1 - share) : 0;
  out->provenance = WATTLE_MODELLED;
  out->joules = node->joules * share;
  out->uncertainty = node->uncertainty * share + node->joules * may_err;
  out->covered_s = node->covered_s;
}

static size_t count(const int64_t *list, size_t n, int64_t pid)
{
  size_t found = 0;
  for (size_t i = 0; i < n; i++) found += list[i] == pid;
  return found;
}

void wtl_split_by_use(const wattle_joules_t *node, const wtl_use *use, wattle_joules_t *idle, wattle_joules_t *part,
                      size_t stride)
{
  double left = 1;
  for (size_t i = 0; i < use->n; i++) {
    int64_t pid = use->pe[i];
    bool uses = pid > 0 && count(use->user, use->users, pid) > 0;
    double share = uses ? 1 / ((double)use->users * (double)count(use->pe, use->n, pid)) : 0;
    left -= share;
    take_use(node, share, use->users, &part[i * stride]);
  }
  take_use(node, left > 1e-9 ? left : 0, use->users, idle);
}
