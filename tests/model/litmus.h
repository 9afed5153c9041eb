/* litmus.h - small programs whose outcomes on x86 and in C11 are known, to check the memory models themselves. */
#ifndef WTL_TESTS_MODEL_LITMUS_H
#define WTL_TESTS_MODEL_LITMUS_H

#include "machine.h"

namespace model {

/* Each counts an outcome that is in question; the judge sleeps for ever when it has seen `all` of them. */

/* x = 1; y = 1 on one; y then x on the other: the flag without the message. */
std::vector<program> message_passing(order stores, order loads);
/* x = 1, load y on one; y = 1, load x on the other: both miss. */
std::vector<program> store_buffering(order stores, order loads, bool fenced);
/* x = 1 on one, y = 1 on another; two that read both, each in another order: they do not agree on which came first. */
std::vector<program> independent_reads(order loads, bool fenced);
/* x = 1; x = 2 on one: the other sees the newer first. */
std::vector<program> coherence();

} // namespace model

#endif
