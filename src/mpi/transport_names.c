/* transport_names.c - looks at the loaded objects, variables of Open MPI, sockets and device files of this process. */
#include "mpi/transport_names.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <ifaddrs.h>
#include <link.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "mpi/mpi_front.h"

enum { TEXT = 512 };

/* Adds a word to a list, once. */
static void add(char list[TEXT], const char *separator, const char *word)
{
  size_t n = strlen(list), length = strlen(word);
  for (const char *at = list; (at = strstr(at, word)); at += length) {
    bool begins = at == list || at[-1] == ' ' || at[-1] == ',', ends = !at[length] || at[length] == ',';
    if (begins && ends) return;
  }
  snprintf(list + n, TEXT - n, "%s%s", n ? separator : "", word);
}

/* ---- loaded objects ---- */

typedef struct components {
  char above[TEXT];   /* Open MPI's PML and MTL */
  char below[TEXT];   /* its BTL */
  char library[TEXT]; /* the library below MPICH; in Open MPI a component other than the PML may have loaded it */
} components;

/* Adds the name of a component between `prefix` and ".so". */
static bool add_component(char list[TEXT], const char *file, const char *prefix)
{
  char name[64];
  size_t skip = strlen(prefix), n = strcspn(file, ".");
  if (strncmp(file, prefix, skip) != 0 || n <= skip || n - skip >= sizeof name) return false;
  snprintf(name, sizeof name, "%.*s", (int)(n - skip), file + skip);
  add(list, ", ", name);
  return true;
}

static int look(struct dl_phdr_info *info, size_t size, void *arg)
{
  components *c = arg;
  const char *slash = strrchr(info->dlpi_name, '/'), *file = slash ? slash + 1 : info->dlpi_name;
  (void)size;
  if (add_component(c->above, file, "mca_pml_") || add_component(c->above, file, "mca_mtl_")) return 0;
  if (add_component(c->below, file, "mca_btl_")) return 0;
  if (strncmp(file, "libucp", 6) == 0) add(c->library, ", ", "UCX");
  if (strncmp(file, "libfabric", 9) == 0) add(c->library, ", ", "libfabric");
  return 0;
}

/* ---- components that are linked in, as in Debian 13's Open MPI 5 ---- */

/* The beginning of the description of a component (`mca_base_component_t` of Open MPI 4 and 5). */
typedef struct described {
  int version[3];
  char project[16];
  int project_version[3];
  char type[32];
  int type_version[3];
  char name[64];
} described;

static void add_described(char list[TEXT], const char *type, const described *component)
{
  if (!component || strncmp(component->project, "ompi", sizeof component->project) != 0 ||
      strncmp(component->type, type, sizeof component->type) != 0 ||
      !memchr(component->name, 0, sizeof component->name) || !*component->name)
    return;
  add(list, ", ", component->name);
}

/* The PML in use is a variable. Only the PML `cm` uses an MTL, to which a variable points. */
static void add_linked_in(char list[TEXT])
{
  const described *const *mtl = dlsym(RTLD_DEFAULT, "ompi_mtl_base_selected_component");
  add_described(list, "pml", dlsym(RTLD_DEFAULT, "mca_pml_base_selected_component"));
  if (mtl && strcmp(list, "cm") == 0) add_described(list, "mtl", *mtl);
}

/* ---- files ---- */

static bool same_address(const struct sockaddr *a, const struct sockaddr *b)
{
  if (a->sa_family != b->sa_family) return false;
  if (a->sa_family == AF_INET)
    return ((const struct sockaddr_in *)a)->sin_addr.s_addr == ((const struct sockaddr_in *)b)->sin_addr.s_addr;
  return a->sa_family == AF_INET6 && memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
                                            &((const struct sockaddr_in6 *)b)->sin6_addr, sizeof(struct in6_addr)) == 0;
}

/* Sockets that the launcher left open in this process lead to the launcher. */
enum { INHERITED = 32 };
static ino_t inherited[INHERITED];
static size_t n_inherited;

void wtl_mpi_transport_start(void)
{
  struct stat s;
  DIR *d = opendir("/proc/self/fd");
  n_inherited = 0;
  for (struct dirent *e; d && n_inherited < INHERITED && (e = readdir(d));)
    if (fstat(atoi(e->d_name), &s) == 0 && S_ISSOCK(s.st_mode)) inherited[n_inherited++] = s.st_ino;
  if (d) closedir(d);
}

static bool is_inherited(int fd)
{
  struct stat s;
  if (fstat(fd, &s) != 0) return true;
  for (size_t i = 0; i < n_inherited; i++)
    if (inherited[i] == s.st_ino) return true;
  return false;
}

/* A connection to an address of this machine leads to no other node. */
static void add_socket(char paths[TEXT], int fd, const struct ifaddrs *all)
{
  struct sockaddr_storage mine, theirs;
  socklen_t n = sizeof mine, m = sizeof theirs;
  const char *name = NULL;
  char path[80];
  if (is_inherited(fd)) return;
  if (getsockname(fd, (struct sockaddr *)&mine, &n) != 0 || getpeername(fd, (struct sockaddr *)&theirs, &m) != 0)
    return;
  for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
    if (!i->ifa_addr) continue;
    if (same_address(i->ifa_addr, (struct sockaddr *)&theirs)) return;
    if (same_address(i->ifa_addr, (struct sockaddr *)&mine)) name = i->ifa_name;
  }
  if (!name) return;
  snprintf(path, sizeof path, "tcp/%s", name);
  add(paths, ",", path);
}

/* "uverbs0" becomes the name of its device, such as mlx5_0. */
static void add_verbs(char paths[TEXT], const char *sysfs, const char *file)
{
  char path[TEXT], name[64] = "";
  if (snprintf(path, sizeof path, "%s/class/infiniband_verbs/%s/ibdev", sysfs, file) >= (int)sizeof path) return;
  FILE *f = fopen(path, "re");
  if (f && fgets(name, sizeof name, f)) name[strcspn(name, "\n")] = 0;
  if (f) fclose(f);
  snprintf(path, sizeof path, "verbs/%s", *name ? name : file);
  add(paths, ",", path);
}

static void look_at_files(char paths[TEXT], const char *sysfs)
{
  static const char verbs[] = "/dev/infiniband/uverbs";
  struct ifaddrs *all = NULL;
  DIR *d = opendir("/proc/self/fd");
  if (!d) return;
  if (getifaddrs(&all) != 0) all = NULL;
  for (struct dirent *e; (e = readdir(d));) {
    char target[TEXT];
    ssize_t n = readlinkat(dirfd(d), e->d_name, target, sizeof target - 1);
    if (n <= 0) continue;
    target[n] = 0;
    if (strncmp(target, "socket:", 7) == 0) add_socket(paths, atoi(e->d_name), all);
    if (strncmp(target, verbs, sizeof verbs - 1) == 0) add_verbs(paths, sysfs, strrchr(target, '/') + 1);
  }
  if (all) freeifaddrs(all);
  closedir(d);
}

/* "Open MPI v4.1.4, package: ..." and "MPICH Version:      4.0.2 ..." up to the end of the version. */
static void name_library(char name[TEXT])
{
  static char text[MPI_MAX_LIBRARY_VERSION_STRING + 1]; /* up to 8 KiB, and called once */
  int n = 0;
  if (PMPI_Get_library_version(text, &n) != MPI_SUCCESS) return;
  text[strcspn(text, ",\n")] = 0;
  char *rest;
  for (const char *word = strtok_r(text, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest))
    if (strcmp(word, "Version:") != 0)
      snprintf(name + strlen(name), TEXT - strlen(name), "%s%s", *name ? " " : "", word);
}

void wtl_mpi_transport_write(FILE *f, const void *sysfs)
{
  components c = {0};
  char name[TEXT] = "", paths[TEXT] = "", transport[2 * TEXT + 4];
  name_library(name);
  dl_iterate_phdr(look, &c);
  look_at_files(paths, sysfs);
  if (!*c.above) add_linked_in(c.above);
  if (!*c.above) memcpy(c.above, c.library, sizeof c.above);
  snprintf(transport, sizeof transport, *c.below ? "%s (%s)" : "%s", c.above, c.below);
  putc('{', f);
  wtl_json_text_field(f, "library", *name ? name : NULL, 1);
  wtl_json_text_field(f, "transport", *c.above ? transport : NULL, 0);
  wtl_json_text_field(f, "why", *c.above ? "" : "no component of a known name is loaded, as in a static build", 0);
  wtl_json_text_field(f, "paths", paths, 0);
  fprintf(f, ",\"shows_idle\":%s}", wtl_mpi_self->shows_idle ? "true" : "false");
}
