/* agreement_test.c - tests that the nodes of a job use hardware only if all have it, and that a node without is named. */
#include <stdio.h>
#include <string.h>

#include "fabric/ucx/agreement.h"
#include "power/check.h"

static const char *answers[4]; /* by node */
static int leaders[] = {0, 2, 4, 6};
static char published[128];

static int publish(wtl_boot *b, const char *key, const char *value)
{
  snprintf(published, sizeof published, "%s=%s", key, value);
  return 0;
}

static int lookup(wtl_boot *b, int pe, const char *key, char *value, size_t size)
{
  if (!answers[pe / 2]) return -1;
  snprintf(value, size, "%s", answers[pe / 2]);
  return 0;
}

static const wtl_boot_ops ops = {.name = "test", .publish = publish, .lookup = lookup};
static int local[] = {2, 3};
static wtl_boot boot = {
    .ops = &ops, .pe = 2, .n_pes = 6, .n_local = 2, .n_nodes = 3, .node = 1, .leader_pe = leaders, .local_pe = local};
static char note[512];

static bool agreed(const char *a, const char *b, const char *c)
{
  bool all = false;
  answers[0] = a, answers[1] = b, answers[2] = c;
  CHECK(wtl_agreement_read(&boot, &all, note, sizeof note) == 0);
  return all;
}

static void all_or_none(void)
{
  CHECK(agreed("1 a", "1 b", "1 c") && !*note);
  CHECK(!agreed("0 a", "0 b", "0 c") && !*note);
}

static void a_node_without_is_named(void)
{
  CHECK(!agreed("1 a", "1 b", "0 the-third") && strstr(note, "node the-third has no RDMA device"));
  CHECK(strstr(note, "node a has one"));
  CHECK(!agreed("0 the-first", "1 b", "0 c") && strstr(note, "node the-first has no") &&
        strstr(note, "node b has one"));
}

static void an_answer_that_is_missing_is_an_error(void)
{
  bool all;
  answers[0] = "1 a", answers[1] = NULL;
  CHECK(wtl_agreement_read(&boot, &all, note, sizeof note) == -1);
}

static void one_pe_of_a_node_answers(void)
{
  published[0] = '\0';
  boot.pe = 3;
  CHECK(wtl_agreement_publish(&boot, true) == 0 && !*published);
  boot.pe = 2;
  CHECK(wtl_agreement_publish(&boot, true) == 0 && strncmp(published, "wattle.rdma=1 ", 14) == 0);
  CHECK(wtl_agreement_publish(&boot, false) == 0 && strncmp(published, "wattle.rdma=0 ", 14) == 0);
}

TESTS(TEST(all_or_none), TEST(a_node_without_is_named), TEST(an_answer_that_is_missing_is_an_error),
      TEST(one_pe_of_a_node_answers))
