/* Cores: those there are, and those that hardware threads share. */
#include "node/cores.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "power/check.h"

static void there_is_a_core(void)
{
  CHECK(wtl_cores_allowed() >= 1 && wtl_cores_allowed() <= (int)sysconf(_SC_NPROCESSORS_CONF));
}

static void write_siblings(const char *root, int cpu, const char *list)
{
  char path[300];
  const char *const steps[] = {"", "/devices", "/devices/system", "/devices/system/cpu"};
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
    snprintf(path, sizeof path, "%s%s", root, steps[i]);
    mkdir(path, 0700);
  }
  snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%d", root, cpu);
  mkdir(path, 0700);
  snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%d/topology", root, cpu);
  mkdir(path, 0700);
  snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%d/topology/thread_siblings_list", root, cpu);
  FILE *f = fopen(path, "w");
  if (f) fputs(list, f);
  if (f) fclose(f);
}

static cpu_set_t set_of(const int *cpus, int n)
{
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int i = 0; i < n; i++) CPU_SET(cpus[i], &set);
  return set;
}

static void threads_of_one_core_count_once(void)
{
  char root[] = "/tmp/wattle-cores-XXXXXX", remove[64];
  CHECK(mkdtemp(root) != NULL);
  write_siblings(root, 0, "0,4\n");
  write_siblings(root, 4, "0,4\n");
  write_siblings(root, 1, "1-2\n");
  write_siblings(root, 2, "1-2\n");
  write_siblings(root, 3, "not a number\n");
  cpu_set_t all = set_of((int[]){0, 1, 2, 3, 4, 5}, 6), pair = set_of((int[]){0, 4}, 2),
            apart = set_of((int[]){2, 4}, 2);
  CHECK(wtl_cores_physical(&all, root) == 4); /* {0,4} {1,2} 3 5 */
  CHECK(wtl_cores_physical(&pair, root) == 1);
  CHECK(wtl_cores_physical(&apart, root) == 2);
  CHECK(wtl_cores_physical(&all, "/no/such/tree") == 6);
  snprintf(remove, sizeof remove, "rm -r %s", root);
  CHECK(system(remove) == 0);
}

TESTS(TEST(there_is_a_core), TEST(threads_of_one_core_count_once))
