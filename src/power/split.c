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
  memcpy(out->source, node->source, sizeof out->source);
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

/* A part of the joules of an accelerator, and by how much it may err. */
typedef struct use_part {
  double joules, may_err;
} use_part;

static void take_use(const wattle_joules_t *node, use_part p, wattle_joules_t *out)
{
  wtl_figure_none(out, node->domain, WATTLE_SCOPE_DEVICE, node->interval_s);
  double share = node->joules > 0 ? fmin(1, p.joules / node->joules) : 0;
  snprintf(out->source, sizeof out->source, "%.70s split by its processes", node->source);
  out->provenance = WATTLE_MODELLED;
  out->joules = node->joules * share;
  out->uncertainty = node->uncertainty * share + fmin(node->joules, p.may_err);
  out->covered_s = node->covered_s;
}

/* A share that is unavailable. Its source says why: the node's own reason, or that no process is known. */
static void leave_out_use(const wattle_joules_t *node, wattle_joules_t *out)
{
  bool is_known = node->provenance != WATTLE_UNAVAILABLE;
  wtl_figure_none(out, node->domain, WATTLE_SCOPE_DEVICE, node->interval_s);
  snprintf(out->source, sizeof out->source, "%.60s%s", node->source, is_known ? ": " WTL_SPLIT_NO_PROCESSES : "");
}

static size_t count(const int64_t *list, size_t n, int64_t pid)
{
  size_t found = 0;
  for (size_t i = 0; i < n; i++) found += list[i] == pid;
  return found;
}

static use_part part_of(const wtl_used *u)
{
  return (use_part){u->joules, fmax(u->joules - u->least, u->most - u->joules)};
}

/* The part of PE i; all PEs of its process have the same. */
static use_part part_of_pe(const wtl_use *use, size_t i)
{
  use_part p = {0};
  for (size_t k = 0; k < use->users && use->pe[i] > 0; k++)
    if (use->user[k].pid == use->pe[i]) p = part_of(&use->user[k]);
  double pes = (double)count(use->pe, use->n, use->pe[i]);
  return (use_part){p.joules / pes, p.may_err / pes};
}

void wtl_split_by_use(const wattle_joules_t *node, const wtl_use *use, wattle_joules_t *idle, wattle_joules_t *part,
                      size_t stride)
{
  double taken = 0, may_err = 0;
  if (use->users == WTL_USE_UNKNOWN || node->provenance == WATTLE_UNAVAILABLE) {
    leave_out_use(node, idle);
    for (size_t i = 0; i < use->n; i++) leave_out_use(node, &part[i * stride]);
    return;
  }
  for (size_t i = 0; i < use->n; i++) {
    use_part p = part_of_pe(use, i);
    taken += p.joules;
    take_use(node, p, &part[i * stride]);
  }
  for (size_t k = 0; k < use->users; k++)
    if (count(use->pe, use->n, use->user[k].pid) == 0) may_err += part_of(&use->user[k]).may_err;
  double left = node->joules - taken;
  take_use(node, (use_part){left > 1e-9 * node->joules ? left : 0, may_err}, idle);
}
