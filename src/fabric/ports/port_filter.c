/* port_filter.c - makes packet filters that admit only the job's nodes to a listening socket. */
#include "fabric/ports/port_filter.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/error.h"

/* The kernel takes 4,096 instructions, and by default 20 KiB of them for a socket. For more addresses than this, the
 * filter compares ranges or prefixes that include them all. */
enum { MOST_RANGES = 128, MOST_BEGINNINGS = 48 };

enum { TEXT_BYTES = 8192 }; /* of the addresses of one node */

typedef struct range {
  uint32_t first, last; /* IPv4 addresses */
} range;

typedef struct beginning {
  uint32_t words[4]; /* the prefix of IPv6 addresses */
} beginning;

struct wtl_port_filter {
  range *ranges;
  beginning *beginnings;
  size_t n_ranges, n_beginnings;
  bool same_machine; /* another node of the job is this machine */
  struct sock_fprog program;
};

/* --- exchange of addresses ---------------------------------------------------------------------------------------- */

/* The kernel and the network namespace. Nodes that have both in common are one machine. */
static void name_machine(char *text, size_t size)
{
  char kernel[64] = "";
  struct stat st = {0};
  FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
  if (f && fscanf(f, "%63s", kernel) != 1) kernel[0] = '\0';
  if (f) fclose(f);
  if (stat("/proc/self/ns/net", &st) != 0) st.st_ino = 0;
  snprintf(text, size, "%s/%llu", kernel, (unsigned long long)st.st_ino);
}

/* Publishes "MACHINE ADDRESS ADDRESS ...", with addresses as inet_pton takes them. */
static int publish_addresses(wtl_boot *boot)
{
  char text[TEXT_BYTES], word[INET6_ADDRSTRLEN];
  struct ifaddrs *all;
  name_machine(text, sizeof text);
  if (getifaddrs(&all) != 0) return -1;
  size_t n = strlen(text);
  for (const struct ifaddrs *i = all; i && n + sizeof word + 1 < sizeof text; i = i->ifa_next) {
    int family = i->ifa_addr ? i->ifa_addr->sa_family : AF_UNSPEC;
    const void *address = family == AF_INET    ? (const void *)&((struct sockaddr_in *)(void *)i->ifa_addr)->sin_addr
                          : family == AF_INET6 ? (const void *)&((struct sockaddr_in6 *)(void *)i->ifa_addr)->sin6_addr
                                               : NULL;
    if (address && inet_ntop(family, address, word, sizeof word))
      n += (size_t)snprintf(text + n, sizeof text - n, " %s", word);
  }
  freeifaddrs(all);
  return boot->ops->publish(boot, "wattle.addresses", text);
}

static void *grown(void *array, size_t n, size_t bytes)
{
  void *larger = (n & (n - 1)) == 0 ? realloc(array, 2 * (n ? n : 1) * bytes) : array; /* full at powers of 2 */
  if (larger) return larger;
  wtl_message_print("no memory for the addresses of the job's nodes");
  abort();
}

static void take_address(wtl_port_filter *f, const char *word)
{
  struct in_addr four;
  struct in6_addr six;
  if (inet_pton(AF_INET, word, &four) == 1) {
    f->ranges = grown(f->ranges, f->n_ranges, sizeof *f->ranges);
    f->ranges[f->n_ranges++] = (range){ntohl(four.s_addr), ntohl(four.s_addr)};
  } else if (inet_pton(AF_INET6, word, &six) == 1) {
    f->beginnings = grown(f->beginnings, f->n_beginnings, sizeof *f->beginnings);
    beginning *b = &f->beginnings[f->n_beginnings++];
    memcpy(b->words, &six, sizeof six);
    for (int i = 0; i < 4; i++) b->words[i] = ntohl(b->words[i]);
  }
}

static int look_up_addresses(wtl_port_filter *f, wtl_boot *boot)
{
  char text[TEXT_BYTES], own[128];
  name_machine(own, sizeof own);
  for (int node = 0; node < boot->n_nodes; node++) {
    char *save = NULL;
    if (node == boot->node) continue;
    if (boot->ops->lookup(boot, boot->leader_pe[node], "wattle.addresses", text, sizeof text) != 0) return -1;
    const char *machine = strtok_r(text, " ", &save);
    f->same_machine |= machine && strcmp(machine, own) == 0;
    for (const char *word; (word = strtok_r(NULL, " ", &save)) != NULL;) take_address(f, word);
  }
  return 0;
}

/* --- reduction to the kernel's limits ----------------------------------------------------------------------------- */

static int by_first(const void *a, const void *b)
{
  const range *x = a, *y = b;
  return (x->first > y->first) - (x->first < y->first);
}

static int by_words(const void *a, const void *b)
{
  const beginning *x = a, *y = b;
  for (int i = 0; i < 4; i++)
    if (x->words[i] != y->words[i]) return x->words[i] > y->words[i] ? 1 : -1;
  return 0;
}

/* Joins ranges with a gap of at most `gap` between them. */
static void join_ranges(wtl_port_filter *f, uint64_t gap)
{
  size_t n = 0;
  for (size_t i = 1; i < f->n_ranges; i++)
    if (f->ranges[i].first - (uint64_t)f->ranges[n].last <= gap)
      f->ranges[n].last = f->ranges[i].last;
    else
      f->ranges[++n] = f->ranges[i];
  f->n_ranges = n + 1;
}

/* Joins prefixes that agree in the first `words` words. */
static void join_beginnings(wtl_port_filter *f, int words)
{
  size_t n = 0;
  for (size_t i = 1; i < f->n_beginnings; i++)
    if (memcmp(f->beginnings[i].words, f->beginnings[n].words, (size_t)words * sizeof(uint32_t)) != 0)
      f->beginnings[++n] = f->beginnings[i];
  f->n_beginnings = n + 1;
}

/* Returns how many words of an IPv6 address the filter compares. */
static int make_few(wtl_port_filter *f)
{
  int words = 4;
  if (f->n_ranges > 0) qsort(f->ranges, f->n_ranges, sizeof *f->ranges, by_first), join_ranges(f, 1);
  for (uint64_t gap = 2; f->n_ranges > MOST_RANGES; gap *= 2) join_ranges(f, gap);
  if (f->n_beginnings > 0)
    qsort(f->beginnings, f->n_beginnings, sizeof *f->beginnings, by_words), join_beginnings(f, words);
  while (f->n_beginnings > MOST_BEGINNINGS && words > 1) join_beginnings(f, --words);
  return words;
}

/* --- the filter program ------------------------------------------------------------------------------------------- */

enum { DROP = 0, TCP_FLAGS = 13, SYN = 2, LOOPBACK = 1 };
#define KEEP UINT32_MAX /* the whole packet */

/* An offset in the IP header, for a socket's filter, which begins at the TCP header. */
#define IP(offset) ((uint32_t)(SKF_NET_OFF + (offset)))

static void put(wtl_port_filter *f, struct sock_filter instruction)
{
  f->program.filter[f->program.len++] = instruction;
}

/* Tests whether the source address is in a range: 3 instructions each. */
static void put_ranges(wtl_port_filter *f)
{
  put(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, IP(12)));
  for (size_t i = 0; i < f->n_ranges; i++) {
    put(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, f->ranges[i].first, 0, 2));
    put(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, f->ranges[i].last, 1, 0));
    put(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, KEEP));
  }
  put(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, DROP));
}

/* Tests whether the source address has a prefix: up to 9 instructions each. */
static void put_beginnings(wtl_port_filter *f, int words)
{
  for (size_t i = 0; i < f->n_beginnings; i++) {
    for (int word = 0; word < words; word++) {
      uint8_t to_next = (uint8_t)(2 * (words - word) - 1);
      put(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, IP(8 + 4 * word)));
      put(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, f->beginnings[i].words[word], 0, to_next));
    }
    put(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, KEEP));
  }
  put(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, DROP));
}

static int write_program(wtl_port_filter *f)
{
  int words = make_few(f);
  uint32_t ranges_length = (uint32_t)(2 + 3 * f->n_ranges);
  f->program.filter = calloc(16 + 3 * f->n_ranges + 9 * f->n_beginnings, sizeof *f->program.filter);
  if (!f->program.filter) return -1;
  put(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_B | BPF_ABS, TCP_FLAGS));
  put(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, SYN, 1, 0));
  put(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, KEEP));
  if (!f->same_machine) {
    put(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_IFINDEX)));
    put(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LOOPBACK, 0, 1));
    put(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, DROP));
  }
  put(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_B | BPF_ABS, IP(0))); /* the upper half is the version */
  put(f, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 4));
  put(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 6, 0, 1));
  put(f, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, ranges_length));
  put_ranges(f);
  put_beginnings(f, words);
  return 0;
}

int wtl_port_filter_make(wtl_port_filter **out, wtl_boot *boot, char *error, size_t size)
{
  wtl_port_filter *f = calloc(1, sizeof *f);
  bool publishes = boot->pe == boot->local_pe[0];
  if (!f) return snprintf(error, size, "no memory for the filter of ports"), WTL_EXIT_OSERR;
  if ((publishes && publish_addresses(boot) != 0) || boot->ops->fence(boot) != 0 || look_up_addresses(f, boot) != 0) {
    wtl_port_filter_free(f);
    snprintf(error, size, "boot by %s: the nodes cannot exchange their addresses", boot->ops->name);
    return WTL_EXIT_UNAVAILABLE;
  }
  if (write_program(f) != 0) {
    wtl_port_filter_free(f);
    return snprintf(error, size, "no memory for the filter of ports"), WTL_EXIT_OSERR;
  }
  *out = f;
  return 0;
}

void wtl_port_filter_free(wtl_port_filter *f)
{
  if (!f) return;
  free(f->ranges);
  free(f->beginnings);
  free(f->program.filter);
  free(f);
}

int wtl_port_filter_attach(const wtl_port_filter *f, int socket)
{
  return setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &f->program, sizeof f->program);
}
