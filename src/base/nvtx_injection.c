/*
 * nvtx_injection.c - takes the regions that a program marks with NVTX, NVIDIA's tools extension.
 *
 * The protocol is that of NVTX 3 (nvtx3/nvtxDetail/nvtxTypes.h): the program's copy of the header calls
 * InitializeInjectionNvtx2 and passes a function that returns tables. A table has the addresses of the variables
 * through which the header's functions are called. Calls without an entry here do nothing, as without a tool.
 *
 * Pushed ranges have the levels of a program without a tool (-2), so that the program sees no difference. The ids of
 * started ranges and the handles of registered texts must be ours, because ends and ranges refer to them.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/region_mark.h"

enum { CALLBACKS = 1, CORE = 1, CORE2 = 5, NO_LEVEL = -2 };
enum { START_EX = 4, START_A, START_W, END, PUSH_EX, PUSH_A, PUSH_W, POP };                  /* in the table CORE */
enum { DOMAIN_START = 2, DOMAIN_END, DOMAIN_PUSH, DOMAIN_POP, REGISTER_A = 10, REGISTER_W }; /* in CORE2 */
enum { TEXT = 1, WIDE_TEXT, REGISTERED_TEXT };                                               /* kinds of messages */

typedef void function(void);

typedef struct callbacks {
  size_t bytes;
  int (*table_of)(int module, function ***table[1], unsigned *n);
} callbacks;

/* nvtxEventAttributes_t, version 2 and 3. */
typedef struct attributes {
  uint16_t version, bytes;
  uint32_t category;
  int32_t color_kind;
  uint32_t color;
  int32_t payload_kind, reserved;
  uint64_t payload;
  int32_t message_kind;
  const void *message;
} attributes;

static const char unnamed[] = "(unnamed range)";

static void narrow(const wchar_t *wide, char *name)
{
  size_t n = 0;
  for (; wide && wide[n] && n < WTL_MARK_NAME - 1; n++)
    name[n] = wide[n] >= ' ' && wide[n] < 0x7f ? (char)wide[n] : '?';
  name[n] = '\0';
}

/* Returns the message of an event, if need be in `space`. */
static const char *message_of(const attributes *a, char *space)
{
  if (!a || a->bytes < sizeof *a || !a->message) return unnamed;
  if (a->message_kind == TEXT || a->message_kind == REGISTERED_TEXT) return a->message;
  if (a->message_kind != WIDE_TEXT) return unnamed;
  narrow(a->message, space);
  return space;
}

static void push(const char *name)
{
  wtl_mark_pass(&(wtl_region_mark){.source = WTL_MARK_NVTX, .begins = true, .name = name && *name ? name : unnamed});
}

static void pop(void)
{
  wtl_mark_pass(&(wtl_region_mark){.source = WTL_MARK_NVTX});
}

static uint64_t start(const char *name)
{
  static _Atomic uint64_t last;
  uint64_t id = ++last;
  wtl_mark_pass(
      &(wtl_region_mark){.source = WTL_MARK_NVTX, .begins = true, .name = name && *name ? name : unnamed, .id = id});
  return id;
}

/* --- the functions that the header calls --- */

static int push_text(const char *name)
{
  push(name);
  return NO_LEVEL;
}

static int push_wide(const wchar_t *wide)
{
  char name[WTL_MARK_NAME];
  narrow(wide, name);
  push(name);
  return NO_LEVEL;
}

static int push_event(const attributes *a)
{
  char space[WTL_MARK_NAME];
  push(message_of(a, space));
  return NO_LEVEL;
}

static int pop_event(void)
{
  pop();
  return NO_LEVEL;
}

static uint64_t start_wide(const wchar_t *wide)
{
  char name[WTL_MARK_NAME];
  narrow(wide, name);
  return start(name);
}

static uint64_t start_event(const attributes *a)
{
  char space[WTL_MARK_NAME];
  return start(message_of(a, space));
}

static void end_event(uint64_t id)
{
  if (id) wtl_mark_pass(&(wtl_region_mark){.source = WTL_MARK_NVTX, .id = id});
}

/* All domains count as one: their handles are NULL, as without a tool. */
static int push_in_domain(void *domain, const attributes *a)
{
  (void)domain;
  return push_event(a);
}

static int pop_in_domain(void *domain)
{
  (void)domain;
  return pop_event();
}

static uint64_t start_in_domain(void *domain, const attributes *a)
{
  (void)domain;
  return start_event(a);
}

static void end_in_domain(void *domain, uint64_t id)
{
  (void)domain;
  end_event(id);
}

/* A registered text stays until the process ends, as its handle does. */
static char *register_text(void *domain, const char *text)
{
  (void)domain;
  return text ? strdup(text) : NULL;
}

static char *register_wide(void *domain, const wchar_t *wide)
{
  char name[WTL_MARK_NAME];
  narrow(wide, name);
  return register_text(domain, name);
}

/* --- the injection --- */

typedef struct entry {
  unsigned number;
  void *function;
} entry;

static void fill(const callbacks *c, int module, const entry *list, size_t n)
{
  function ***table = NULL;
  unsigned size = 0;
  if (!c->table_of(module, &table, &size) || !table) return;
  for (size_t i = 0; i < n; i++)
    if (list[i].number < size && table[list[i].number]) *(void **)table[list[i].number] = list[i].function;
}

/* Called by the header of NVTX, once for each copy of it in the process. Returns 1: a tool is there. */
int InitializeInjectionNvtx2(const void *(*table_of)(uint32_t));
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(const void *(*table_of)(uint32_t))
{
  static const entry core[] = {{START_EX, (void *)start_event}, {START_A, (void *)start},
                               {START_W, (void *)start_wide},   {END, (void *)end_event},
                               {PUSH_EX, (void *)push_event},   {PUSH_A, (void *)push_text},
                               {PUSH_W, (void *)push_wide},     {POP, (void *)pop_event}};
  static const entry core2[] = {{DOMAIN_START, (void *)start_in_domain}, {DOMAIN_END, (void *)end_in_domain},
                                {DOMAIN_PUSH, (void *)push_in_domain},   {DOMAIN_POP, (void *)pop_in_domain},
                                {REGISTER_A, (void *)register_text},     {REGISTER_W, (void *)register_wide}};
  const callbacks *c = table_of(CALLBACKS);
  if (!c || c->bytes < sizeof *c || !c->table_of) return 0;
  fill(c, CORE, core, sizeof core / sizeof *core);
  fill(c, CORE2, core2, sizeof core2 / sizeof *core2);
  return 1;
}

void wtl_mark_offer_nvtx(void)
{
  Dl_info here;
  if (dladdr((void *)InitializeInjectionNvtx2, &here) && here.dli_fname && strstr(here.dli_fname, ".so"))
    setenv("NVTX_INJECTION64_PATH", here.dli_fname, 0);
}
