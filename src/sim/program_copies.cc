/* program_copies.cc - copies the program's file into memory for each PE and loads it from there. */
#include "sim/program_copies.h"
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

using Segments = std::vector<ElfW(Phdr)>;

/* Returns the parts of the file that the loader maps. The rest is for debuggers. None: it is no program. */
Segments loaded_segments(int file)
{
  ElfW(Ehdr) head;
  ElfW(Phdr) segment;
  Segments all;
  if (pread(file, &head, sizeof head, 0) != sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return {};
  for (int i = 0; i < head.e_phnum; i++) {
    off_t at = static_cast<off_t>(head.e_phoff) + static_cast<off_t>(i) * head.e_phentsize;
    if (pread(file, &segment, sizeof segment, at) != sizeof segment) return {};
    if (segment.p_type == PT_LOAD) all.push_back(segment);
  }
  return all;
}

off_t loaded_bytes(const Segments &segments)
{
  off_t end = 0;
  for (auto &s : segments) end = std::max(end, static_cast<off_t>(s.p_offset + s.p_filesz));
  return end;
}

/* The pages of the file in which a segment lies. */
struct Pages {
  explicit Pages(const ElfW(Phdr) & s)
      : begin(static_cast<off_t>(s.p_offset) & -page),
        end((static_cast<off_t>(s.p_offset + s.p_filesz) + page - 1) & -page)
  {
  }
  static constexpr off_t page = 4096;
  off_t begin, end;
};

/* The loader changes instructions of such a program. */
bool has_own_instructions(const link_map *map)
{
  for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
    if (d->d_tag == DT_TEXTREL || (d->d_tag == DT_FLAGS && d->d_un.d_val & DF_TEXTREL)) return true;
  return false;
}

/* Maps the instructions and constants of the first copy in place of this copy's own, and frees those. All PEs then
 * share them in memory and in the processor's caches. */
void share_constants(void *copy, int own, int first, const Segments &segments)
{
  link_map *map;
  if (dlinfo(copy, RTLD_DI_LINKMAP, &map) != 0 || has_own_instructions(map)) return;
  for (auto &s : segments) {
    if (s.p_flags & PF_W) continue;
    Pages pages(s);
    off_t in_page = static_cast<off_t>(s.p_offset) - pages.begin;
    void *at = reinterpret_cast<void *>(map->l_addr + s.p_vaddr - static_cast<ElfW(Addr)>(in_page));
    /* With equal rights the kernel counts them as one mapping, and the number of mappings is limited. */
    if (mmap(at, static_cast<size_t>(pages.end - pages.begin), PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, first,
             pages.begin) == MAP_FAILED)
      continue;                    /* the old mapping is still there */
    for (auto &other : segments) { /* its first or last page may hold variables, too */
      Pages written(other);
      if (!(other.p_flags & PF_W)) continue;
      if (written.begin <= pages.begin) pages.begin = std::max(pages.begin, written.end);
      if (written.end >= pages.end) pages.end = std::min(pages.end, written.begin);
    }
    if (pages.begin < pages.end)
      fallocate(own, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, pages.begin, pages.end - pages.begin);
  }
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

/* `first`: the descriptor of the first copy, which may be this one. */
bool load(int fd, int first, const Segments &segments, Copy *out, std::string *error)
{
  std::string name = "/proc/self/fd/" + std::to_string(fd);
  fesetenv(FE_DFL_ENV);
  void *copy = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  fegetenv(&out->floats);
  fesetenv(FE_DFL_ENV);
  if (copy && find(copy, "main", &out->main) && find(copy, "wtl_sim_end", &out->end)) {
    if (!find(copy, "wtl_sim_mpi_call_name", &out->call_name)) find(copy, "wtl_sim_call_name", &out->call_name);
    if (fd != first) share_constants(copy, fd, first, segments);
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
  Segments segments = loaded_segments(file);
  off_t bytes = loaded_bytes(segments);
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
      open_ones.push_back(fd), good = load(fd, open_ones.front(), segments, &copy, error);
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
