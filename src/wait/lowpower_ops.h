/*
 * lowpower_ops.h - the low-power wait instructions as bytes, for compilers and assemblers that do not know them or
 * build for an older CPU.
 *
 * tests/calibrate/lowpower_encodings.py compares the bytes with a disassembler. Nothing here checks whether the CPU has
 * an instruction; wait/lowpower.h does. Nothing includes the C library, so a cross compiler can check the Arm half on
 * any machine.
 */
#ifndef WTL_WAIT_LOWPOWER_OPS_H
#define WTL_WAIT_LOWPOWER_OPS_H

#include <stdint.h>

#if defined(__x86_64__)

/* UMONITOR RDI: watches the line at `line` for stores. */
static inline void wtl_op_umonitor(const volatile void *line)
{
  __asm__ __volatile__(".byte 0xf3, 0x0f, 0xae, 0xf7" ::"D"(line) : "memory");
}

/* UMWAIT ECX: waits until a store to the watched line, or TSC >= until. ECX 0 is the deeper state, C0.2, if the OS
 * allows it. */
static inline void wtl_op_umwait(uint64_t until)
{
  __asm__ __volatile__(".byte 0xf2, 0x0f, 0xae, 0xf1" ::"c"(0), "a"((uint32_t)until), "d"((uint32_t)(until >> 32))
                       : "memory", "cc");
}

/* TPAUSE ECX: waits until TSC >= until. No store ends it. */
static inline void wtl_op_tpause(uint64_t until)
{
  __asm__ __volatile__(".byte 0x66, 0x0f, 0xae, 0xf1" ::"c"(0), "a"((uint32_t)until), "d"((uint32_t)(until >> 32))
                       : "memory", "cc");
}

/* MONITORX RAX: watches the line at `line` for stores. */
static inline void wtl_op_monitorx(const volatile void *line)
{
  __asm__ __volatile__(".byte 0x0f, 0x01, 0xfa" ::"a"(line), "c"(0), "d"(0) : "memory");
}

/* MWAITX: waits until a store to the watched line, or for `ticks` of the TSC. The count is relative and has 32 bits. */
static inline void wtl_op_mwaitx(uint32_t ticks)
{
  enum { WITH_TIMER = 2 };
  __asm__ __volatile__(".byte 0x0f, 0x01, 0xfb" ::"a"(0), "b"(ticks), "c"(WITH_TIMER) : "memory");
}

#elif defined(__aarch64__)

/* LDXRB: watches the granule around `line`. A store to it by another core is an event for this one. */
static inline void wtl_op_ldxr(const volatile void *line)
{
  uint32_t value;
  __asm__ __volatile__("ldxrb %w0, [%1]" : "=r"(value) : "r"(line) : "memory");
}

/* WFE: waits until an event. The event stream of the kernel gives one about every 100 us. */
static inline void wtl_op_wfe(void)
{
  __asm__ __volatile__(".inst 0xd503205f" ::: "memory");
}

/* WFET X0: waits until an event, or until the virtual counter reaches `until`. */
static inline void wtl_op_wfet(uint64_t until)
{
  register uint64_t x0 __asm__("x0") = until;
  __asm__ __volatile__(".inst 0xd5031000" ::"r"(x0) : "memory");
}

static inline uint64_t wtl_op_counter(void)
{
  uint64_t now;
  __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(now)::"memory");
  return now;
}

static inline uint64_t wtl_op_counter_hz(void)
{
  uint64_t hz;
  __asm__ __volatile__("mrs %0, cntfrq_el0" : "=r"(hz));
  return hz;
}

#endif
#endif
