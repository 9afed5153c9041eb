// The C++ part of known_paths.c.
#include <functional>
#include <stdexcept>

#define FUNCTION __attribute__((noinline))
#define STAY() __asm__ volatile("")

extern "C" void the_call(void);

namespace solver {

template <typename T> struct Halo {
  T value;
  FUNCTION void exchange(int n)
  {
    the_call();
    STAY();
  }
};

struct Base {
  virtual ~Base() = default;
  virtual void step() = 0;
};

struct Derived : Base {
  FUNCTION void step() override
  {
    the_call();
    STAY();
  }
};

struct Leaving {
  FUNCTION ~Leaving()
  {
    the_call();
    STAY();
  }
};

FUNCTION void throws()
{
  throw std::runtime_error("known");
}
FUNCTION void unwound()
{
  Leaving leaving;
  throws();
}
FUNCTION void after_exception()
{
  try {
    throws();
  } catch (const std::exception &) {
    the_call();
  }
  STAY();
}
FUNCTION void catches()
{
  try {
    unwound();
  } catch (const std::exception &) {
  }
  STAY();
}

// A lambda, in a template of its type.
template <typename Function> FUNCTION void with_function(const Function &function)
{
  function(1);
  STAY();
}

// An exception that is thrown again, in its handler.
FUNCTION void throws_again()
{
  try {
    throws();
  } catch (const std::exception &) {
    throw;
  }
}
FUNCTION void after_second_throw()
{
  try {
    throws_again();
  } catch (const std::exception &) {
    the_call();
  }
  STAY();
}

// The constructor of a base.
struct Part {
  FUNCTION Part()
  {
    the_call();
    STAY();
  }
};
struct Whole : Part {
  FUNCTION Whole() { STAY(); }
};

} // namespace solver

extern "C" FUNCTION void in_cxx(void)
{
  solver::Halo<std::function<void(int)>> halo;
  halo.exchange(1);
  solver::Derived derived;
  solver::Base *volatile base = &derived;
  base->step();
  solver::after_exception();
  solver::catches();
  solver::with_function([](int) FUNCTION {
    the_call();
    STAY();
  });
  solver::after_second_throw();
  solver::Whole whole;
  STAY();
}
