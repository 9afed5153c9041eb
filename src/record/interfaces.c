/* interfaces.c - reads the kernel's counters of network interfaces and InfiniBand ports. */
#include "record/interfaces.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "os/os.h"
#include "power/sys.h"

enum { PATH_BYTES = 1024, PORT_DATA_UNIT = 4 };
static const double saturated = UINT32_MAX; /* a port without 64-bit counters stops there */

static const char *const net_files[WTL_N_INTERFACE_COUNTS] = {"tx_packets", "rx_packets", "tx_bytes", "rx_bytes"};
static const char *const port_files[WTL_N_INTERFACE_COUNTS] = {"port_xmit_packets", "port_rcv_packets",
                                                               "port_xmit_data", "port_rcv_data"};

static double read_count(const char *path)
{
  char text[32], *end;
  int n = wtl_sys_real.read_file(wtl_sys_real.arg, path, text, sizeof text);
  if (n <= 0 || *text < '0' || *text > '9') return NAN;
  unsigned long long count = strtoull(text, &end, 10);
  return *end == '\n' || *end == '\0' ? (double)count : NAN;
}

static void read_counts(const wtl_interface *of, double count[WTL_N_INTERFACE_COUNTS])
{
  for (int k = 0; k < WTL_N_INTERFACE_COUNTS; k++) {
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", of->folder, of->is_port ? port_files[k] : net_files[k]);
    count[k] = read_count(path);
    if (!of->is_port) continue;
    if (count[k] == saturated) count[k] = NAN;
    if (k == WTL_BYTES_SENT || k == WTL_BYTES_RECEIVED) count[k] *= PORT_DATA_UNIT;
  }
}

/* Adds the interface `name`, or the port `port` of the device `name`. */
static void add(wtl_interfaces *i, const char *name, const char *port)
{
  wtl_interface new = {.is_port = port != NULL};
  const char *form = port ? "%s/class/infiniband/%s/ports/%s/counters" : "%s/class/net/%s/statistics";
  if (i->n == WTL_MOST_INTERFACES) {
    i->left_out++;
    return;
  }
  int length = snprintf(new.folder, sizeof new.folder, form, i->sysfs, name, port);
  if (length >= (int)sizeof new.folder) return;
  length = snprintf(new.name, sizeof new.name, port ? "%s/%s" : "%s", name, port);
  if (length >= (int)sizeof new.name) return;
  read_counts(&new, new.count);
  i->at_start[i->n++] = new;
}

/* The next name in a folder without "." and ".."; NULL at the end. */
static const char *next_name(DIR *folder)
{
  struct dirent *entry;
  while (folder && (entry = readdir(folder)))
    if (entry->d_name[0] != '.') return entry->d_name;
  return NULL;
}

static DIR *open_folder(const char *sysfs, const char *below)
{
  char path[PATH_BYTES];
  return snprintf(path, sizeof path, "%s/class/%s", sysfs, below) < (int)sizeof path ? opendir(path) : NULL;
}

static void add_ports(wtl_interfaces *i, const char *device)
{
  char below[300];
  const char *port;
  snprintf(below, sizeof below, "infiniband/%s/ports", device);
  DIR *ports = open_folder(i->sysfs, below);
  while ((port = next_name(ports))) add(i, device, port);
  if (ports) closedir(ports);
}

void wtl_interfaces_start(wtl_interfaces *i, const char *sysfs)
{
  *i = (wtl_interfaces){.sysfs = sysfs};
  if (WTL_OS_IS_SIMULATED) return;
  i->at_start = calloc(WTL_MOST_INTERFACES, sizeof *i->at_start);
  if (!i->at_start) return;
  DIR *nets = open_folder(sysfs, "net"), *devices = open_folder(sysfs, "infiniband");
  const char *name;
  while ((name = next_name(devices))) add_ports(i, name);
  while ((name = next_name(nets))) add(i, name, NULL);
  if (devices) closedir(devices);
  if (nets) closedir(nets);
}

static void write_one(FILE *f, const wtl_interface *one)
{
  double now[WTL_N_INTERFACE_COUNTS];
  read_counts(one, now);
  for (int k = 0; k < WTL_N_INTERFACE_COUNTS; k++) now[k] = now[k] >= one->count[k] ? now[k] - one->count[k] : NAN;
  wtl_json(f, "{'name':%s,'kind':%s,'packets':{'sent':%g,'received':%g},'bytes':{'sent':%g,'received':%g}}", one->name,
           one->is_port ? "infiniband" : "net", now[WTL_PACKETS_SENT], now[WTL_PACKETS_RECEIVED], now[WTL_BYTES_SENT],
           now[WTL_BYTES_RECEIVED]);
}

void wtl_interfaces_write(wtl_interfaces *i, FILE *f)
{
  char why[400] = "";
  if (WTL_OS_IS_SIMULATED)
    snprintf(why, sizeof why, "a simulated node has no network interfaces");
  else if (!i->n)
    snprintf(why, sizeof why, "no network interface in %s/class/net or %s/class/infiniband", i->sysfs, i->sysfs);
  else if (i->left_out)
    snprintf(why, sizeof why, "%zu more interfaces are not counted", i->left_out);
  fputs("{\"list\":[", f);
  for (size_t k = 0; k < i->n; k++) {
    if (k) putc(',', f);
    write_one(f, &i->at_start[k]);
  }
  wtl_json(f, "],'why':%s}", why);
  wtl_interfaces_stop(i);
}

void wtl_interfaces_stop(wtl_interfaces *i)
{
  free(i->at_start);
  *i = (wtl_interfaces){0};
}
