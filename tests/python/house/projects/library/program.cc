/* program.cc - the ring in C++. */
#include "ring.h"

int main()
{
  return ring();
}
