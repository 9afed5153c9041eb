/* The values that calls.h makes. In a file of its own, because it is called most, and calls.c is compiled without optimisation. */
#include <stddef.h>
#include <stdint.h>

uint64_t mixed(int pe, size_t i);

uint64_t mixed(int pe, size_t i)
{
  unsigned __int128 product = (unsigned __int128)(0x9e3779b97f4a7c15u ^ ((uint64_t)pe << 32 | i)) * 0xd1342543de82ef95u;
  return (uint64_t)(product >> 64) ^ (uint64_t)product;
}
