/* meter_set.c - reads several meters as one list of domains. */
#include "power/meter_set.h"

#include <stdio.h>
#include <string.h>

static bool is_taken(const wtl_meter_set *set, const char *name)
{
  for (size_t i = 0; i < set->n_domains; i++)
    if (strcmp(set->domain[i].name, name) == 0) return true;
  return false;
}

static bool is_for_set(const wtl_meter_set *set, const wtl_domain *d)
{
  return set->n == 0 || d->scope == WATTLE_SCOPE_DEVICE || (d->scope == WATTLE_SCOPE_NODE && d->part == WTL_PART_NODE);
}

static void add_domain(wtl_meter_set *set, wtl_meter_member *m, size_t i, const wtl_domain *d)
{
  wtl_domain *to = &set->domain[set->n_domains];
  m->at[i] = SIZE_MAX;
  if (!is_for_set(set, d) || set->n_domains == WTL_MAX_DOMAINS) return;
  *to = *d;
  if (is_taken(set, d->name)) snprintf(to->name, sizeof to->name, "%.20s-%.10s", d->name, m->kind->name);
  if (set->n > 0 && d->scope == WATTLE_SCOPE_NODE) to->nested = true;
  m->at[i] = set->n_domains;
  set->member_of[set->n_domains++] = set->n;
}

bool wtl_meter_set_measures(const wtl_meter_set *set, size_t domain)
{
  return set->member[set->member_of[domain]].kind->measures;
}

/* Marks accelerators as nested if a sensor of the whole node counts them. */
static void nest_accelerators(wtl_meter_set *set)
{
  bool has_node = false;
  for (size_t d = 0; d < set->n_domains; d++)
    has_node |= set->domain[d].scope == WATTLE_SCOPE_NODE && !set->domain[d].nested && wtl_meter_set_measures(set, d);
  for (size_t d = 0; d < set->n_domains; d++)
    if (has_node && set->domain[d].scope == WATTLE_SCOPE_DEVICE) set->domain[d].nested = true;
}

bool wtl_meter_set_add(wtl_meter_set *set, const wtl_meter_ops *kind, void *state)
{
  wtl_domain domain[WTL_MAX_DOMAINS];
  wtl_meter_member *m = &set->member[set->n];
  size_t before = set->n_domains, used = strlen(set->name);
  if (set->n == WTL_METER_SET_MOST) {
    kind->close(state);
    return false;
  }
  *m = (wtl_meter_member){.kind = kind, .state = state, .n = kind->domains(state, domain)};
  for (size_t i = 0; i < m->n; i++) add_domain(set, m, i, &domain[i]);
  if (set->n > 0 && set->n_domains == before) {
    kind->close(state);
    return false;
  }
  snprintf(set->name + used, sizeof set->name - used, "%s%s", used ? "+" : "", kind->name);
  set->n++;
  nest_accelerators(set);
  return true;
}

void wtl_meter_set_close(wtl_meter_set *set)
{
  for (size_t i = 0; i < set->n; i++) set->member[i].kind->close(set->member[i].state);
  set->n = 0;
}

void wtl_meter_set_read(wtl_meter_set *set, wtl_mark *mark)
{
  double at = mark->at;
  if (set->n == 1) {
    set->member[0].kind->read(set->member[0].state, mark);
    return;
  }
  for (size_t i = 0; i < set->n; i++) {
    wtl_meter_member *m = &set->member[i];
    wtl_mark own = {.at = at};
    m->kind->read(m->state, &own);
    if (i == 0) mark->at = own.at;
    for (size_t d = 0; d < m->n; d++)
      if (m->at[d] != SIZE_MAX) mark->point[m->at[d]] = own.point[d];
  }
}

/* Copies a mark as one member sees it. */
static void mark_of(const wtl_meter_member *m, const wtl_mark *all, wtl_mark *own)
{
  *own = (wtl_mark){.at = all->at, .account = all->account};
  for (size_t d = 0; d < m->n; d++)
    if (m->at[d] != SIZE_MAX) own->point[d] = all->point[m->at[d]];
}

void wtl_meter_set_between(wtl_meter_set *set, const wtl_mark *a, const wtl_mark *b, const wtl_activity *did,
                           wattle_joules_t *out, double *random)
{
  if (set->n == 1) {
    set->member[0].kind->between(set->member[0].state, a, b, did, out, random);
    for (size_t d = 0; d < set->n_domains; d++) out[d].nested = set->domain[d].nested;
    return;
  }
  for (size_t i = 0; i < set->n; i++) {
    wtl_meter_member *m = &set->member[i];
    wtl_mark from, to;
    wattle_joules_t own[WTL_MAX_DOMAINS];
    double own_random[WTL_MAX_DOMAINS] = {0};
    mark_of(m, a, &from);
    mark_of(m, b, &to);
    m->kind->between(m->state, &from, &to, did, own, own_random);
    for (size_t d = 0; d < m->n; d++) {
      size_t at = m->at[d];
      if (at == SIZE_MAX) continue;
      out[at] = own[d];
      out[at].nested = set->domain[at].nested;
      snprintf(out[at].domain, sizeof out[at].domain, "%s", set->domain[at].name);
      random[at] = own_random[d];
    }
  }
}

void wtl_meter_set_remark(wtl_meter_set *set, char *text, size_t size)
{
  *text = '\0';
  for (size_t i = 0; i < set->n; i++) {
    char own[1024] = "";
    size_t used = strlen(text);
    if (set->member[i].kind->remark) set->member[i].kind->remark(set->member[i].state, own, sizeof own);
    if (*own) snprintf(text + used, size - used, "%s%s: %s", used ? "; " : "", set->member[i].kind->name, own);
  }
}

void wtl_meter_set_start_use(wtl_meter_set *set)
{
  for (size_t i = 0; i < set->n; i++)
    if (set->member[i].kind->start_use) set->member[i].kind->start_use(set->member[i].state);
}

size_t wtl_meter_set_used(wtl_meter_set *set, size_t domain, wtl_used *out, size_t max)
{
  const wtl_meter_member *m = &set->member[set->member_of[domain]];
  for (size_t d = 0; d < m->n && m->kind->used; d++)
    if (m->at[d] == domain) return m->kind->used(m->state, d, out, max);
  return WTL_USE_UNKNOWN;
}
