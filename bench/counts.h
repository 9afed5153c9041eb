/*
 * counts.h - counts of a block of a benchmark: instructions, cycles, references and misses of the last-level cache of
 * the calling thread in user mode, and packets and bytes of the machine's network interfaces.
 *
 * The processor's counters are perf's. Packets are those of the kernel's statistics of each interface, and of each port
 * of an InfiniBand or RoCE device. An interface counts other programs, too. A count that cannot be read is NaN, and
 * counts_print gives the reason.
 */
#ifndef BENCH_COUNTS_H
#define BENCH_COUNTS_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "json_line.h"

enum { COUNTS_EVENTS = 4, COUNTS_WAYS = 4, COUNTS_MOST_CARDS = 16 };
static const char *const counts_events[COUNTS_EVENTS] = {"instructions", "cycles", "cache_references", "cache_misses"};
static const char *const counts_ways[COUNTS_WAYS] = {"packets_sent", "packets_received", "bytes_sent",
                                                     "bytes_received"};

/* Packets and bytes of an interface, or of a port. fd: its files; -1: none. unit: bytes of one count of data. */
typedef struct counts_card {
  char name[300];
  int fd[COUNTS_WAYS];
  double unit, before[COUNTS_WAYS], sum[COUNTS_WAYS];
} counts_card;

/* fd: of an event; -1: not open, for the reason `error`. sum: over the blocks since the last counts_clear. */
typedef struct counts {
  int fd[COUNTS_EVENTS], error, n_cards;
  double before[COUNTS_EVENTS], sum[COUNTS_EVENTS];
  counts_card card[COUNTS_MOST_CARDS];
} counts;

/* A counter of the calling thread in user mode; -1 with errno where it cannot be opened. */
static inline int counts_open_event(uint32_t type, uint64_t event)
{
  struct perf_event_attr a;
  memset(&a, 0, sizeof a);
  a.size = sizeof a;
  a.type = type;
  a.config = event;
  a.exclude_kernel = a.exclude_hv = 1;
  return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static inline int counts_open_file(const char *sysfs, const char *folder, const char *file)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/class/%s/%s", sysfs, folder, file);
  return open(path, O_RDONLY | O_CLOEXEC);
}

/* The files of one interface under SYSFS/class/`folder`. */
static inline void counts_add_card(counts *c, const char *sysfs, const char *folder, const char *name, bool is_port)
{
  static const char *const of_net[COUNTS_WAYS] = {"tx_packets", "rx_packets", "tx_bytes", "rx_bytes"};
  static const char *const of_port[COUNTS_WAYS] = {"port_xmit_packets", "port_rcv_packets", "port_xmit_data",
                                                   "port_rcv_data"};
  if (c->n_cards == COUNTS_MOST_CARDS) return;
  counts_card *card = &c->card[c->n_cards++];
  *card = (counts_card){.unit = is_port ? 4 : 1}; /* a port counts its data in units of 4 bytes */
  snprintf(card->name, sizeof card->name, "%s", name);
  for (int w = 0; w < COUNTS_WAYS; w++) card->fd[w] = counts_open_file(sysfs, folder, is_port ? of_port[w] : of_net[w]);
}

static inline void counts_add_ports(counts *c, const char *sysfs, const char *device)
{
  for (int port = 1; port <= 2; port++) { /* devices number their ports from 1, and have two at most */
    char folder[300], name[300];
    snprintf(folder, sizeof folder, "infiniband/%s/ports/%d/counters", device, port);
    snprintf(name, sizeof name, "%s/%d", device, port);
    int there = counts_open_file(sysfs, folder, "port_xmit_packets");
    if (there < 0) continue;
    close(there);
    counts_add_card(c, sysfs, folder, name, true);
  }
}

static inline void counts_add_all(counts *c, const char *sysfs, const char *below, bool devices)
{
  char path[1024];
  struct dirent *entry;
  snprintf(path, sizeof path, "%s/class/%s", sysfs, below);
  DIR *all = opendir(path);
  while (all && (entry = readdir(all))) {
    char folder[300];
    if (entry->d_name[0] == '.') continue;
    snprintf(folder, sizeof folder, "net/%s/statistics", entry->d_name);
    if (devices)
      counts_add_ports(c, sysfs, entry->d_name);
    else
      counts_add_card(c, sysfs, folder, entry->d_name, false);
  }
  if (all) closedir(all);
}

/* `sysfs`: the root of the kernel's tree, usually /sys. */
static inline void counts_open(counts *c, const char *sysfs)
{
  static const uint64_t events[COUNTS_EVENTS] = {PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CPU_CYCLES,
                                                 PERF_COUNT_HW_CACHE_REFERENCES, PERF_COUNT_HW_CACHE_MISSES};
  *c = (counts){0};
  for (int e = 0; e < COUNTS_EVENTS; e++)
    if ((c->fd[e] = counts_open_event(PERF_TYPE_HARDWARE, events[e])) < 0) c->error = errno;
  counts_add_all(c, sysfs, "infiniband", true);
  counts_add_all(c, sysfs, "net", false);
}

static inline double counts_read_event(int fd)
{
  uint64_t n;
  return fd >= 0 && read(fd, &n, sizeof n) == sizeof n ? (double)n : (double)NAN;
}

static inline double counts_read_file(int fd)
{
  char text[32];
  ssize_t n = fd >= 0 ? pread(fd, text, sizeof text - 1, 0) : -1;
  if (n <= 0 || *text < '0' || *text > '9') return (double)NAN;
  text[n] = '\0';
  return strtod(text, NULL);
}

static inline const char *counts_why(int error)
{
  if (error == EACCES || error == EPERM) return "counting is not permitted here; wattle doctor says how to grant it";
  if (error == ENOENT || error == EOPNOTSUPP || error == ENODEV || error == EINVAL)
    return "this processor, or its virtual machine, does not have all the counters";
  return error ? strerror(error) : "";
}

static inline void counts_close(counts *c)
{
  for (int e = 0; e < COUNTS_EVENTS; e++)
    if (c->fd[e] >= 0) close(c->fd[e]);
  for (int k = 0; k < c->n_cards; k++)
    for (int w = 0; w < COUNTS_WAYS; w++)
      if (c->card[k].fd[w] >= 0) close(c->card[k].fd[w]);
}

static inline void counts_clear(counts *c)
{
  for (int e = 0; e < COUNTS_EVENTS; e++) c->sum[e] = 0;
  for (int k = 0; k < c->n_cards; k++)
    for (int w = 0; w < COUNTS_WAYS; w++) c->card[k].sum[w] = 0;
}

static inline void counts_begin(counts *c)
{
  for (int k = 0; k < c->n_cards; k++)
    for (int w = 0; w < COUNTS_WAYS; w++) c->card[k].before[w] = counts_read_file(c->card[k].fd[w]);
  for (int e = 0; e < COUNTS_EVENTS; e++) c->before[e] = counts_read_event(c->fd[e]);
}

static inline void counts_end(counts *c)
{
  for (int e = 0; e < COUNTS_EVENTS; e++) c->sum[e] += counts_read_event(c->fd[e]) - c->before[e];
  for (int k = 0; k < c->n_cards; k++)
    for (int w = 0; w < COUNTS_WAYS; w++)
      c->card[k].sum[w] += counts_read_file(c->card[k].fd[w]) - c->card[k].before[w];
}

/* Prints the counts of one of `blocks` blocks: ,"counted":{...}. */
static inline void counts_print(const counts *c, int blocks)
{
  printf(",\"counted\":{\"why\":\"%s\"", counts_why(c->error));
  for (int e = 0; e < COUNTS_EVENTS; e++) print_number(counts_events[e], c->sum[e] / blocks);
  printf(",\"interfaces\":[");
  for (int k = 0; k < c->n_cards; k++) {
    printf("%s{\"name\":\"%s\"", k ? "," : "", c->card[k].name);
    for (int w = 0; w < COUNTS_WAYS; w++)
      print_number(counts_ways[w], c->card[k].sum[w] / blocks * (w < 2 ? 1 : c->card[k].unit));
    putchar('}');
  }
  printf("]}");
}

#endif
