/* copies.cc - copies the program's file into memory for each PE and loads it from there. */
#include "sim/copies.h"
#include "sim/shared_state.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <unistd.h>

namespace sim {

namespace {

/* Returns the length of the part of the file that the loader maps; the rest is for debuggers. 0: it is no program. */
off_t loaded_bytes(int file)
{
  ElfW(Ehdr) head;
  ElfW(Phdr) segment;
  off_t end = 0;
  if (pread(file, &head, sizeof head, 0) != sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return 0;
  for (int i = 0; i < head.e_phnum; i++) {
    off_t at = static_cast<off_t>(head.e_phoff) + static_cast<off_t>(i) * head.e_phentsize;
    if (pread(file, &segment, sizeof segment, at) != sizeof segment) return 0;
    if (segment.p_type == PT_LOAD) end = std::max(end, static_cast<off_t>(segment.p_offset + segment.p_filesz));
  }
  return end;
}

int copy_file(int from, off_t bytes)
{
  int to = memfd_create("wattle-pe", MFD_CLOEXEC);
  off_t at = 0;
  while (to >= 0 && at < bytes)
    if (sendfile(to, from, &at, static_cast<size_t>(bytes - at)) <= 0) {
      close(to);
      return -1;
    }
  return to;
}

template <class Function> bool find(void *copy, const char *name, Function *out)
{
  void *at = dlsym(copy, name);
  memcpy(out, &at, sizeof at);
  return at != nullptr;
}

bool load(int fd, Copy *out, std::string *error)
{
  std::string name = "/proc/self/fd/" + std::to_string(fd);
  fesetenv(FE_DFL_ENV);
  void *copy = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  fegetenv(&out->floats);
  fesetenv(FE_DFL_ENV);
  if (copy && find(copy, "main", &out->main) && find(copy, "wtl_sim_end", &out->end)) {
    if (!find(copy, "wtl_sim_mpi_call_name", &out->call_name)) find(copy, "wtl_sim_call_name", &out->call_name);
    return true;
  }
  std::string why = dlerror(), of_copy = name + ": ";
  if (why.compare(0, of_copy.size(), of_copy) == 0) why.erase(0, of_copy.size());
  *error = "not a program built by oshcc --sim: " + why;
  return false;
}

std::set<std::string> before; /* the simulator's own libraries */

bool has_own_state(const char *program, std::string *error)
{
  *error = shared_by_mark(program);
  if (error->empty()) *error = shared_in_libraries(program, before);
  return error->empty();
}

void raise_limit_of_files()
{
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

} // namespace

bool load_copies(const char *program, size_t n, std::vector<Copy> *out, std::string *error)
{
  raise_limit_of_files();
  int file = open(program, O_RDONLY | O_CLOEXEC);
  if (file < 0) return *error = strerror(errno), false;
  off_t bytes = loaded_bytes(file);
  before = loaded_files();
  /* All stay open until the last copy is loaded. A reused descriptor would have a name that the dynamic loader knows,
   * and the loader would return the earlier copy. */
  std::vector<int> open_ones;
  bool good = true;
  while (good && out->size() < n) {
    int fd = copy_file(file, bytes);
    Copy copy = {};
    if (fd < 0)
      *error = std::string("no memory for a copy: ") + strerror(errno), good = false;
    else
      open_ones.push_back(fd), good = load(fd, &copy, error);
    if (good && out->empty() && n > 1) good = has_own_state(program, error);
    out->push_back(copy);
  }
  for (int fd : open_ones) close(fd);
  close(file);
  return good;
}

std::string shared_so_far(const char *program)
{
  return shared_in_libraries(program, before);
}

} // namespace sim
