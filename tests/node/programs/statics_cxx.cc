// Objects of a C++ program that were constructed before main are symmetric and destroyed once, with what was put into
// them.
#include <shmem.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

struct Counter {
  long value;
  std::string name;
  explicit Counter(const char *n) : value(3), name(n) {}
  ~Counter() { std::printf("destroyed %s with %ld\n", name.c_str(), value); }
};

static Counter counter("a name that is too long for the small string buffer");
static std::map<int, std::string> table = {{1, "one"}, {2, "two"}};

static Counter &local()
{
  static Counter c("local");
  return c;
}

int main()
{
  local().value = 4;
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  shmem_barrier_all();
  shmem_long_atomic_add(&counter.value, 10, (me + 1) % n);
  shmem_long_atomic_add(&local().value, 10, (me + 1) % n);
  shmem_barrier_all();
  bool good = counter.value == 13 && local().value == 14 && table[2] == "two";
  table[3] = "three";
  std::cout << (good ? "good" : "WRONG") << std::endl;
  try {
    throw std::string("thrown");
  } catch (const std::string &s) {
    good = good && s == "thrown";
  }
  shmem_finalize();
  return good && table.size() == 3 ? 0 : 1;
}
