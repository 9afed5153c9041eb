/*
 * frame_rule.h - finds the rule by which a stack frame leads to the frame of its caller (x86-64).
 *
 * The compiler writes the rules into .eh_frame, also without -g and without frame pointers. Only the stack pointer and
 * the frame pointer (rbp) are followed: with these two a compiler describes every frame at a return address.
 */
#ifndef WTL_PROFILE_FRAME_RULE_H
#define WTL_PROFILE_FRAME_RULE_H

#include <stdbool.h>
#include <stdint.h>

/* The end of a frame, which is the caller's stack pointer after the return. */
enum wtl_frame_end {
  WTL_FRAME_UNKNOWN,   /* there is no rule, or one of another kind */
  WTL_FRAME_OUTERMOST, /* the frame has no caller */
  WTL_FRAME_OF_SIGNAL, /* the kernel made it, for a signal handler */
  WTL_FRAME_FROM_SP,   /* stack pointer + `end` */
  WTL_FRAME_FROM_FP,   /* frame pointer + `end` */
  WTL_FRAME_AT_FP,     /* the word at frame pointer + `end` */
};

/* The caller's frame pointer. */
enum wtl_frame_fp {
  WTL_FP_SAME,   /* as in this frame */
  WTL_FP_AT_END, /* the word at the end of the frame + `fp` */
  WTL_FP_AT_FP,  /* the word at frame pointer + `fp` */
  WTL_FP_UNKNOWN,
};

typedef struct wtl_frame_rule {
  uint8_t end_kind; /* enum wtl_frame_end */
  uint8_t fp_kind;  /* enum wtl_frame_fp */
  int32_t end, fp;
  int32_t address; /* the return address is the word at the end of the frame + this */
} wtl_frame_rule;

/* Reads the rule for the code address `pc` from a loaded file's .eh_frame_hdr (PT_GNU_EH_FRAME) of `bytes` bytes. */
wtl_frame_rule wtl_frame_rule_read(const void *header, uintptr_t bytes, uintptr_t pc);

#endif
