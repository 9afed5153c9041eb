/* cpu_system_test.c - the firmware's tables and the device tree tell Arm machines, on made trees of /sys. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "power/machine/machine_cpu.h"
#include "tree.h"

/* Writes bytes to a file of the tree and makes its folders. */
static void put_bytes(const tree *t, const char *file, const char *bytes, size_t length)
{
  char path[512];
  snprintf(path, sizeof path, "%s/%s", t->root, file);
  for (char *slash = path + strlen(t->root) + 1; (slash = strchr(slash, '/')); slash++) {
    *slash = '\0';
    mkdir(path, 0755);
    *slash = '/';
  }
  unlink(path); /* a file system writes a file that was emptied to the disk at once */
  FILE *f = fopen(path, "w");
  if (!f) exit(2);
  fwrite(bytes, 1, length, f);
  fclose(f);
}

static void put(const tree *t, const char *file, const char *text)
{
  put_bytes(t, file, text, strlen(text));
}

static wtl_cpu_here arm(const tree *t, const char *part, int cpus)
{
  char *text = NULL;
  size_t size;
  FILE *f = open_memstream(&text, &size);
  if (!f) exit(2);
  for (int i = 0; i < cpus; i++)
    fprintf(f,
            "processor\t: %d\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU architecture: 8\n"
            "CPU variant\t: 0x3\nCPU part\t: %s\nCPU revision\t: 1\n\n",
            i, part);
  fclose(f);
  wtl_cpu_here here;
  wtl_cpu_here_read(text, &here);
  free(text);
  wtl_cpu_here_system(t->root, &here);
  return here;
}

/* The cases are those of the doctor's test, so that both say the same of a machine. */
static void makers_of_machines_tell_guests_and_processors(void)
{
  char line[512];
  int cases = 0;
  FILE *csv = fopen(ARM_MACHINES, "r");
  if (!csv || !fgets(line, sizeof line, csv)) exit(2);
  for (; fgets(line, sizeof line, csv); cases++) {
    char *cell[6], *rest = line;
    line[strcspn(line, "\n")] = '\0';
    for (size_t i = 0; i < 6; i++) cell[i] = strsep(&rest, "|");
    tree *t = tree_new();
    if (*cell[0]) put(t, "class/dmi/id/sys_vendor", cell[0]);
    if (*cell[1]) put(t, "class/dmi/id/product_name", cell[1]);
    if (*cell[2]) {
      char file[256], *value = strchr(cell[2], '=');
      *value++ = '\0';
      snprintf(file, sizeof file, "firmware/devicetree/base/%s", cell[2]);
      put_bytes(t, file, value, strlen(value) + 1);
    }
    wtl_cpu_here here = arm(t, cell[3], 4);
    if (here.is_virtual != (*cell[4] == '1')) {
      fprintf(stderr, "%s, %s, %s: virtual %d\n", cell[0], cell[1], cell[2], here.is_virtual);
      check_failures++;
    }
    CHECK_TEXT(here.name, cell[5]);
    tree_free(t);
  }
  fclose(csv);
  CHECK(cases > 30);
}

static void an_arm_guest_has_its_part_of_the_host_and_a_whole_machine_its_sockets(void)
{
  char error[512] = "";
  tree *t = tree_new();
  put(t, "class/dmi/id/sys_vendor", "Amazon EC2\n");
  put(t, "class/dmi/id/product_name", "c6g.large\n");
  wtl_cpu_here guest = arm(t, "0xd0c", 2);
  wtl_machine *m = wtl_machine_of_cpu(wtl_cpu_find(&guest), &guest, error, sizeof error);
  if (!m) exit(1);
  CHECK_CONTAINS(m->title, "2 of 64 threads of a host's socket");
  CHECK_CONTAINS(m->clocks[0].active.how, "Graviton2: TDP");
  CHECK(!m->wake);
  wtl_machine_free(m);
  put(t, "class/dmi/id/sys_vendor", "WIWYNN\n");
  put(t, "class/dmi/id/product_name", "Mt.Jade Server System\n");
  for (int i = 0; i < 8; i++) { /* ACPI numbers packages by the place of their node in its table */
    char file[128];
    snprintf(file, sizeof file, "devices/system/cpu/cpu%d/topology/physical_package_id", i);
    put(t, file, i < 4 ? "36\n" : "5388\n");
  }
  put(t, "devices/system/cpu/cpufreq/policy0", "");
  wtl_cpu_here whole = arm(t, "0xd0c", 8);
  CHECK(whole.sockets == 2 && whole.cores == 8 && !whole.is_virtual);
  m = wtl_machine_of_cpu(wtl_cpu_find(&whole), &whole, error, sizeof error);
  if (!m) exit(1);
  CHECK(m->sockets == 2 && m->cores_per_socket == 4 && m->wake);
  wtl_machine_free(m);
  tree_free(t);
}

static void the_firmwares_table_names_the_processor_where_it_can_be_read(void)
{
  /* A structure without texts (type 32), then that of a processor with two of them. */
  static const char table[] = "\x20\x06\x01\x00\x00\x00\0\0"
                              "\x04\x06\x02\x00\x01\x02"
                              "Ampere(R) Altra(R) Processor\0Q80-30\0\0"
                              "\x7f\x04\x03\x00\0";
  char error[512] = "";
  tree *t = tree_new();
  put(t, "class/dmi/id/sys_vendor", "WIWYNN\n");
  put_bytes(t, "firmware/dmi/tables/DMI", table, sizeof table);
  wtl_cpu_here here = arm(t, "0xd0c", 80);
  CHECK_TEXT(here.name, "Ampere(R) Altra(R) Processor Q80-30");
  wtl_machine *m = wtl_machine_of_cpu(wtl_cpu_find(&here), &here, error, sizeof error);
  if (!m) exit(1);
  CHECK_CONTAINS(m->clocks[0].active.how, "Q80-30: TDP 210 W over 80 threads");
  wtl_machine_free(m);
  for (size_t n = 0; n < sizeof table; n++) { /* cut at any byte, it does no harm */
    put_bytes(t, "firmware/dmi/tables/DMI", table, n);
    here = arm(t, "0xd0c", 80);
    CHECK(*here.name);
  }
  tree_free(t);
}

static void an_x86_machine_is_a_guest_by_its_flag_alone(void)
{
  tree *t = tree_new();
  put(t, "class/dmi/id/sys_vendor", "Amazon EC2\n");
  wtl_cpu_here here;
  wtl_cpu_here_read("processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nflags\t\t: fpu\n",
                    &here);
  wtl_cpu_here_system(t->root, &here);
  CHECK(!here.is_virtual && here.sockets == 1);
  tree_free(t);
}

static void zone(const tree *t, int i, const char *name, const char *watts, const char *enabled)
{
  char file[128];
  const char *const files[] = {"name",
                               "enabled",
                               "constraint_0_power_limit_uw",
                               "constraint_0_time_window_us",
                               "constraint_1_power_limit_uw",
                               "constraint_1_time_window_us"};
  const char *const texts[] = {name, enabled, watts, "27983872\n", "250000000\n", "2440\n"};
  for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
    snprintf(file, sizeof file, "class/powercap/intel-rapl:%d/%s", i, files[k]);
    put(t, file, texts[k]);
  }
}

static void power_limits_are_those_in_force_for_all_packages(void)
{
  wtl_power_limit limit[WTL_POWER_LIMITS];
  tree *t = tree_new();
  wtl_cpu_here_power_limits(t->root, limit);
  CHECK(limit[0].watts == 0 && limit[1].watts == 0);
  zone(t, 0, "package-0\n", "205000000\n", "1\n");
  zone(t, 1, "package-1\n", "165000000\n", "1\n");
  zone(t, 2, "psys\n", "900000000\n", "0\n");
  wtl_cpu_here_power_limits(t->root, limit);
  CHECK_NEAR(limit[0].watts, 205, 1e-9);
  CHECK_NEAR(limit[0].window_s, 27.983872, 1e-9);
  CHECK_NEAR(limit[1].watts, 250, 1e-9);
  zone(t, 1, "package-1\n", "4294967295000000\n", "1\n"); /* no limit */
  wtl_cpu_here_power_limits(t->root, limit);
  CHECK(limit[0].watts == 0 && limit[1].watts == 250);
  zone(t, 1, "package-1\n", "165000000\n", "0\n");
  wtl_cpu_here_power_limits(t->root, limit);
  CHECK(limit[0].watts == 0 && limit[1].watts == 0);
  tree_free(t);
}

TESTS(TEST(power_limits_are_those_in_force_for_all_packages), TEST(makers_of_machines_tell_guests_and_processors),
      TEST(an_arm_guest_has_its_part_of_the_host_and_a_whole_machine_its_sockets),
      TEST(the_firmwares_table_names_the_processor_where_it_can_be_read),
      TEST(an_x86_machine_is_a_guest_by_its_flag_alone))
