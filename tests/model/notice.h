/* notice.h - models the notice of sleepers (src/wait/sleep_notice.c) as steps, with its writers and sleepers. */
#ifndef WTL_TESTS_MODEL_NOTICE_H
#define WTL_TESTS_MODEL_NOTICE_H

#include "protocol.h"

namespace model {

/* Whether the notice is posted at first. */
enum class notice { none, posted };

/* A PE that posts the notice before it sleeps. */
program noticed_sleeper(const std::string &name, const condition &c, notice at_first, mutant m);
/* A PE that stores a word, or X and Y as a block, and looks at the bell only if it finds the notice. */
program plain_writer(const std::string &name, bool as_block, location word, watch line, mutant m);
/* A writer that withdraws the notice. */
program withdrawer(const std::string &name, mutant m);

} // namespace model

#endif
