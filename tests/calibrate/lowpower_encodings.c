/* A function for each instruction, named after it, for a disassembler to look at. Never run. */
#include "wait/lowpower_ops.h"

#if defined(__x86_64__)
void is_umonitor(const volatile void *line);
void is_umwait(uint64_t until);
void is_tpause(uint64_t until);
void is_monitorx(const volatile void *line);
void is_mwaitx(uint32_t ticks);

void is_umonitor(const volatile void *line)
{
  wtl_op_umonitor(line);
}

void is_umwait(uint64_t until)
{
  wtl_op_umwait(until);
}

void is_tpause(uint64_t until)
{
  wtl_op_tpause(until);
}

void is_monitorx(const volatile void *line)
{
  wtl_op_monitorx(line);
}

void is_mwaitx(uint32_t ticks)
{
  wtl_op_mwaitx(ticks);
}
#elif defined(__aarch64__)
void is_ldxrb(const volatile void *line);
void is_wfe(void);
void is_wfet(uint64_t until);

void is_ldxrb(const volatile void *line)
{
  wtl_op_ldxr(line);
}

void is_wfe(void)
{
  wtl_op_wfe();
}

void is_wfet(uint64_t until)
{
  wtl_op_wfet(until);
}
#endif
