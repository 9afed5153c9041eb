/* shared_state.cc - reads the symbol tables of the program and its libraries to find shared variables. */
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

/* The sections of an ELF file. A file with a damaged table of sections has none. */
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
    const ElfW(Phdr) *segment = at<ElfW(Phdr)>(head->e_phoff, head->e_phnum);
    for (size_t i = 0; segment && i < head->e_phnum; i++)
      if (segment[i].p_type == PT_GNU_RELRO) read_only = &segment[i];
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  ~File()
  {
    if (start) munmap(const_cast<char *>(start), bytes);
  }

  /* Returns `count` objects at `offset`; nullptr: the file is too short, or they are not aligned. */
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

  /* True if the program may write to the symbol's memory. Relocated constants, such as C++'s virtual tables, lie in
   * memory that the loader makes read-only. */
  bool is_writable(const ElfW(Sym) & symbol) const
  {
    const ElfW(Xword) flags = SHF_WRITE | SHF_ALLOC;
    if (symbol.st_shndx >= n || (sections[symbol.st_shndx].sh_flags & flags) != flags) return false;
    return !read_only || symbol.st_value - read_only->p_vaddr >= read_only->p_memsz;
  }

  /* Counts the words of a section that point to a personality routine, which exception tables refer to. */
  size_t count_personalities(const ElfW(Shdr) * in) const
  {
    size_t found = 0;
    const ElfW(Shdr) *table = section(".rela.dyn"), *symbols = section(".dynsym");
    if (!in || !table || !symbols || symbols->sh_link >= n) return 0;
    const size_t count = table->sh_size / sizeof(ElfW(Rela)), most = symbols->sh_size / sizeof(ElfW(Sym));
    const ElfW(Rela) *entry = at<ElfW(Rela)>(table->sh_offset, count);
    const ElfW(Sym) *symbol = at<ElfW(Sym)>(symbols->sh_offset, most);
    for (size_t i = 0; entry && symbol && i < count; i++) {
      const size_t k = ELF64_R_SYM(entry[i].r_info);
      if (entry[i].r_offset - in->sh_addr >= in->sh_size || k >= most) continue;
      const std::string name = text(&sections[symbols->sh_link], symbol[k].st_name);
      if (name.find("_personality_v") != std::string::npos) found++;
    }
    return found;
  }

  /* Returns the name of the first symbol for which `is` holds; empty: there is none. `here`: search the symbols defined
   * in this file, otherwise the undefined ones. */
  template <class Is> std::string find_symbol(bool here, Is is) const
  {
    for (size_t i = 0; i < n; i++) {
      const ElfW(Shdr) &table = sections[i];
      if ((table.sh_type != SHT_DYNSYM && table.sh_type != SHT_SYMTAB) || table.sh_link >= n) continue;
      size_t count = table.sh_size / sizeof(ElfW(Sym));
      const ElfW(Sym) *symbol = at<ElfW(Sym)>(table.sh_offset, count);
      for (size_t k = 0; symbol && k < count; k++) {
        std::string name = text(&sections[table.sh_link], symbol[k].st_name);
        if ((symbol[k].st_shndx != SHN_UNDEF) == here && is(symbol[k], name)) return name;
      }
    }
    return "";
  }

private:
  const char *start = nullptr;
  size_t bytes = 0, n = 0;
  const ElfW(Shdr) *sections = nullptr, *names = nullptr;
  const ElfW(Phdr) *read_only = nullptr; /* memory that is read-only after relocation */
};

std::string readable(const std::string &name)
{
  int failed;
  if (name.rfind("_Z", 0) != 0) return name; /* the demangler would read a variable `c` as the type char */
  char *text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &failed);
  std::string result = text ? text : name;
  free(text);
  return result;
}

/* Bytes that the compiler puts into .data (a pointer) and .bss (a flag) of each library. */
enum { OF_THE_COMPILER = 8 };

/* True for variables that the compiler adds: those of each library, a pointer to the personality routine where there
 * are exceptions, and the empty object of <iostream> that starts the streams. */
bool is_of_compiler(const std::string &name)
{
  return name.rfind("completed.", 0) == 0 || name == "__dso_handle" || name.rfind("DW.ref.", 0) == 0 ||
         name == "_ZStL8__ioinit";
}

/* Returns the name of a variable of the library; empty: there is none. For a library without local symbols the sizes of
 * its sections decide. */
std::string variable_of(const File &file)
{
  const ElfW(Shdr) *data = file.section(".data"), *bss = file.section(".bss");
  std::string symbol = file.find_symbol(true, [&](const ElfW(Sym) & y, const std::string &name) {
    int type = ELF64_ST_TYPE(y.st_info);
    if (type == STT_TLS) return true;
    return type == STT_OBJECT && y.st_size > 0 && file.is_writable(y) && !is_of_compiler(name);
  });
  if (!symbol.empty()) return readable(symbol);
  bool is_stripped = !file.section(".symtab");
  bool has_data = data && data->sh_size > OF_THE_COMPILER + file.count_personalities(data) * sizeof(void *);
  bool has_bss = bss && (bss->sh_size > OF_THE_COMPILER || bss->sh_addralign > 1);
  bool has_threads = file.section(".tdata") || file.section(".tbss");
  return is_stripped && (has_data || has_bss || has_threads) ? "variables" : "";
}

/* Returns the functions and variables that a program exports to its libraries, including those of the runtime. */
std::set<std::string> names_of(const char *program)
{
  std::set<std::string> names;
  File(program).find_symbol(true, [&](const ElfW(Sym) & y, const std::string &name) {
    const bool is_seen = ELF64_ST_VISIBILITY(y.st_other) == STV_DEFAULT && ELF64_ST_BIND(y.st_info) == STB_GLOBAL;
    if (is_seen && !name.empty()) names.insert(name);
    return false;
  });
  return names;
}

bool is_of_system(const std::string &path)
{
  for (const char *folder : {"/lib", "/usr/lib"})
    for (const char *width : {"/", "32/", "64/", "x32/"})
      if (path.rfind(std::string(folder) + width, 0) == 0) return true;
  return false;
}

/* False for the program's copies, which lie in memory files, and for the vDSO, which has no file. */
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
      true, [](const ElfW(Sym) & y, const std::string &) { return ELF64_ST_BIND(y.st_info) == STB_GNU_UNIQUE; });
  if (name.empty()) return "";
  return "all PEs would share " + readable(name) +
         ", which the compiler marked STB_GNU_UNIQUE: compile it by oshc++ --sim, or with -fno-gnu-unique";
}

std::string shared_in_libraries(const char *program, const std::set<std::string> &before)
{
  const std::set<std::string> of_program = names_of(program);
  for (const std::string &path : loaded_files()) {
    if (before.count(path) || !is_library(path) || is_of_system(path)) continue;
    const File file(path.c_str());
    const std::string variable = variable_of(file);
    const std::string call = file.find_symbol(
        false, [&](const ElfW(Sym) &, const std::string &name) { return of_program.count(name) != 0; });
    const std::string where =
        "of the shared library " + path + ": link what it is made of into the program, compiled by oshcc --sim";
    if (!variable.empty()) return "all PEs would share " + variable + ", " + where;
    if (!call.empty()) return "all PEs would use PE 0's " + readable(call) + " in calls " + where;
  }
  return "";
}

} // namespace sim
