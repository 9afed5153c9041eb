/*
 * interfaces_test.c - tests the counters of network interfaces with made-up trees in the kernel's layout, and with this
 * machine's own interfaces.
 */
#include "power/check.h"
#include "power/tree.h"
#include "record/interfaces.h"

static tree *t;

static void make_folder(const char *below)
{
  char path[512];
  snprintf(path, sizeof path, "%s/class/%s", t->root, below);
  for (char *slash = strchr(path + strlen(t->root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(path, 0755);
    *slash = '/';
  }
  mkdir(path, 0755);
}

static void put(const char *folder, const char *file, const char *text)
{
  char path[600];
  snprintf(path, sizeof path, "%s/class/%s/%s", t->root, folder, file);
  FILE *f = fopen(path, "w");
  CHECK(f != NULL);
  if (!f) return;
  fputs(text, f);
  fclose(f);
}

static void net(const char *name, const char *tx_packets, const char *rx_packets, const char *tx_bytes,
                const char *rx_bytes)
{
  char folder[200];
  snprintf(folder, sizeof folder, "net/%s/statistics", name);
  make_folder(folder);
  put(folder, "tx_packets", tx_packets);
  put(folder, "rx_packets", rx_packets);
  put(folder, "tx_bytes", tx_bytes);
  put(folder, "rx_bytes", rx_bytes);
}

static void port(const char *name, const char *xmit, const char *rcv, const char *xmit_data, const char *rcv_data)
{
  char folder[200];
  snprintf(folder, sizeof folder, "infiniband/%s/counters", name);
  make_folder(folder);
  put(folder, "port_xmit_packets", xmit);
  put(folder, "port_rcv_packets", rcv);
  put(folder, "port_xmit_data", xmit_data);
  put(folder, "port_rcv_data", rcv_data);
}

static const char *written(wtl_interfaces *i)
{
  static char text[16384];
  memset(text, 0, sizeof text);
  FILE *f = fmemopen(text, sizeof text, "w");
  wtl_interfaces_write(i, f);
  fclose(f);
  return text;
}

static void packets_and_bytes_of_an_interface_are_the_differences(void)
{
  wtl_interfaces i;
  t = tree_new();
  net("eth0", "1000\n", "500\n", "1000000\n", "40000\n");
  wtl_interfaces_start(&i, t->root);
  net("eth0", "1100\n", "530\n", "1150000\n", "42000\n");
  CHECK_TEXT(written(&i), "{\"list\":[{\"name\":\"eth0\",\"kind\":\"net\",\"packets\":{\"sent\":100,\"received\":30},"
                          "\"bytes\":{\"sent\":150000,\"received\":2000}}],\"why\":\"\"}");
  tree_free(t);
}

static void an_infiniband_port_counts_data_in_units_of_four_bytes(void)
{
  wtl_interfaces i;
  t = tree_new();
  port("mlx5_0/ports/1", "10\n", "20\n", "1000\n", "2000\n");
  wtl_interfaces_start(&i, t->root);
  port("mlx5_0/ports/1", "15\n", "22\n", "6000000000\n", "2001\n");
  CHECK_TEXT(written(&i), "{\"list\":[{\"name\":\"mlx5_0/1\",\"kind\":\"infiniband\",\"packets\":{\"sent\":5,"
                          "\"received\":2},\"bytes\":{\"sent\":23999996000,\"received\":4}}],\"why\":\"\"}");
  tree_free(t);
}

static void a_counter_that_is_full_went_back_or_is_gone_is_null(void)
{
  wtl_interfaces i;
  t = tree_new();
  port("mlx4_0/ports/2", "10\n", "20\n", "4294967295\n", "7\n"); /* a counter of 32 bits that stands at its end */
  net("eth1", "9\n", "9\n", "9\n", "9\n");
  wtl_interfaces_start(&i, t->root);
  port("mlx4_0/ports/2", "4294967295\n", "not supported\n", "4294967295\n", "9\n");
  net("eth1", "3\n", "9\n", "10\n", "9\n");
  const char *text = written(&i);
  CHECK_CONTAINS(text, "{\"name\":\"mlx4_0/2\",\"kind\":\"infiniband\",\"packets\":{\"sent\":null,\"received\":null},"
                       "\"bytes\":{\"sent\":null,\"received\":8}}");
  CHECK_CONTAINS(text, "\"packets\":{\"sent\":null,\"received\":0},\"bytes\":{\"sent\":1,\"received\":0}");
  tree_free(t);
}

static void a_machine_without_interfaces_says_so(void)
{
  wtl_interfaces i;
  t = tree_new();
  wtl_interfaces_start(&i, t->root);
  const char *text = written(&i);
  CHECK_CONTAINS(text, "{\"list\":[],\"why\":\"no network interface in ");
  CHECK_CONTAINS(text, "/class/infiniband\"}");
  tree_free(t);
}

static void interfaces_beyond_the_most_are_numbered(void)
{
  wtl_interfaces i;
  t = tree_new();
  for (int k = 0; k < WTL_MOST_INTERFACES + 3; k++) {
    char name[16];
    snprintf(name, sizeof name, "veth%d", k);
    net(name, "1\n", "1\n", "1\n", "1\n");
  }
  wtl_interfaces_start(&i, t->root);
  CHECK(i.n == WTL_MOST_INTERFACES);
  CHECK_CONTAINS(written(&i), "\"why\":\"3 more interfaces are not counted\"");
  tree_free(t);
}

static void this_machines_loopback_is_counted(void)
{
  wtl_interfaces i;
  wtl_interfaces_start(&i, "/sys");
  const char *text = written(&i);
  if (access("/sys/class/net/lo/statistics/tx_packets", R_OK) == 0) {
    CHECK_CONTAINS(text, "{\"name\":\"lo\",\"kind\":\"net\",\"packets\":{\"sent\":");
    CHECK(!strstr(text, "null"));
  }
}

static void a_count_that_never_started_is_not_stopped(void)
{
  wtl_interfaces i = {0};
  wtl_interfaces_stop(&i);
  wtl_interfaces_stop(&i);
  CHECK(i.at_start == NULL);
}

TESTS(TEST(packets_and_bytes_of_an_interface_are_the_differences),
      TEST(an_infiniband_port_counts_data_in_units_of_four_bytes),
      TEST(a_counter_that_is_full_went_back_or_is_gone_is_null), TEST(a_machine_without_interfaces_says_so),
      TEST(interfaces_beyond_the_most_are_numbered), TEST(this_machines_loopback_is_counted),
      TEST(a_count_that_never_started_is_not_stopped))
