#include "sim/shared_state.h"

#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sim {

namespace {

/* An ELF file's sections. A file whose table does not fit into it has none. */
class File {
public:
  explicit File(const char *path)
  {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
      void *p = mmap(nullptr, static_cast<size_t>(st.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
      if (p != MAP_FAILED) start = static_cast<const char *>(p), bytes = static_cast<size_t>(st.st_size);
    }
    if (fd >= 0) close(fd);
    const ElfW(Ehdr) *head = at<ElfW(Ehdr)>(0, 1);
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) return;
    sections = at<ElfW(Shdr)>(head->e_shoff, head->e_shnum);
    if (sections) n = head->e_shnum;
    if (head->e_shstrndx < n) names = &sections[head->e_shstrndx];
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  ~File()
  {
    if (start) munmap(const_cast<char *>(start), bytes);
  }

  /* `count` of them at `offset`; nullptr: they are not all in the file. */
  template <class T> const T *at(size_t offset, size_t count) const
  {
    if (offset > bytes || count > (bytes - offset) / sizeof(T) || offset % alignof(T)) return nullptr;
    return reinterpret_cast<const T *>(start + offset);
  }

  std::string text(const ElfW(Shdr) * table, size_t offset) const
  {
    const char *p = table ? at<char>(table->sh_offset, table->sh_size) : nullptr;
    if (!p || offset >= table->sh_size) return "";
    return std::string(p + offset, strnlen(p + offset, table->sh_size - offset));
  }

  const ElfW(Shdr) * section(const char *name) const
  {
    for (size_t i = 0; i < n; i++)
      if (text(names, sections[i].sh_name) == name) return &sections[i];
    return nullptr;
  }

  /* The first symbol of either table that `is`, by name; empty: none is. */
  template <class Is> std::string find_symbol(Is is) const
  {
    for (size_t i = 0; i < n; i++) {
      const ElfW(Shdr) &table = sections[i];
      if ((table.sh_type != SHT_DYNSYM && table.sh_type != SHT_SYMTAB) || table.sh_link >= n) continue;
      size_t count = table.sh_size / sizeof(ElfW(Sym));
      const ElfW(Sym) *symbol = at<ElfW(Sym)>(table.sh_offset, count);
      for (size_t k = 0; symbol && k < count; k++) {
        std::string name = text(&sections[table.sh_link], symbol[k].st_name);
        if (symbol[k].st_shndx != SHN_UNDEF && is(symbol[k], name)) return name;
      }
    }
    return "";
  }

private:
  const char *start = nullptr;
  size_t bytes = 0, n = 0;
  const ElfW(Shdr) *sections = nullptr, *names = nullptr;
};

std::string readable(const std::string &name)
{
  int failed;
  char *text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &failed);
  std::string result = text ? text : name;
  free(text);
  return result;
}

/* The compiler itself puts a pointer and a flag into each library. */
enum { OF_THE_COMPILER = 8 };

bool is_of_compiler(const std::string &name)
{
  return name.rfind("completed.", 0) == 0 || name == "__dso_handle";
}

bool holds(const ElfW(Shdr) * section, const ElfW(Sym) & symbol)
{
  return section && symbol.st_size > 0 && symbol.st_value >= section->sh_addr &&
         symbol.st_value < section->sh_addr + section->sh_size;
}

/* What of a library's memory is a variable; empty: nothing. A library without local symbols is judged by sizes. */
std::string variable_of(const File &file)
{
  const ElfW(Shdr) *data = file.section(".data"), *bss = file.section(".bss");
  std::string symbol = file.find_symbol([=](const ElfW(Sym) & y, const std::string &name) {
    int type = ELF64_ST_TYPE(y.st_info);
    if (type == STT_TLS) return true;
    return type == STT_OBJECT && (holds(data, y) || holds(bss, y)) && !is_of_compiler(name);
  });
  if (!symbol.empty()) return readable(symbol);
  bool is_stripped = !file.section(".symtab");
  bool has_data = data && data->sh_size > OF_THE_COMPILER;
  bool has_bss = bss && (bss->sh_size > OF_THE_COMPILER || bss->sh_addralign > 1);
  bool has_threads = file.section(".tdata") || file.section(".tbss");
  return is_stripped && (has_data || has_bss || has_threads) ? "variables" : "";
}

bool is_of_system(const std::string &path)
{
  for (const char *folder : {"/lib", "/usr/lib"})
    for (const char *width : {"/", "32/", "64/", "x32/"})
      if (path.rfind(std::string(folder) + width, 0) == 0) return true;
  return false;
}

/* The program's copies lie in memory, and the kernel's part has no file. */
bool is_library(const std::string &path)
{
  return path.find('/') != std::string::npos && path.rfind("/proc/", 0) != 0;
}

int add_file(dl_phdr_info *info, size_t, void *arg)
{
  static_cast<std::set<std::string> *>(arg)->insert(info->dlpi_name);
  return 0;
}

} // namespace

std::set<std::string> loaded_files()
{
  std::set<std::string> files;
  dl_iterate_phdr(add_file, &files);
  return files;
}

std::string shared_by_mark(const char *program)
{
  std::string name = File(program).find_symbol(
      [](const ElfW(Sym) & y, const std::string &) { return ELF64_ST_BIND(y.st_info) == STB_GNU_UNIQUE; });
  if (name.empty()) return "";
  return "all PEs would share " + readable(name) +
         ", which the compiler marked STB_GNU_UNIQUE: compile it by oshc++ --sim, or with -fno-gnu-unique";
}

std::string shared_in_libraries(const std::set<std::string> &before)
{
  for (const std::string &path : loaded_files()) {
    if (before.count(path) || !is_library(path) || is_of_system(path)) continue;
    std::string what = variable_of(File(path.c_str()));
    if (!what.empty())
      return "all PEs would share " + what + ", of the shared library " + path +
             ": link what it is made of into the program, compiled by oshcc --sim";
  }
  return "";
}

} // namespace sim
