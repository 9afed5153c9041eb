/* am_handlers.h - a PE's handlers by their number, any int. Looking up takes no lock and next to no time, however many
 * there are. */
#ifndef WTL_AM_AM_HANDLERS_H
#define WTL_AM_AM_HANDLERS_H

#include <stdbool.h>

#include "am/am.h"

typedef struct wtl_am_handlers wtl_am_handlers;

/* Makes *h if it is NULL, or anew if it is too small. handler: not NULL; a number that was set stays set. One thread at
 * a time. False: no memory. */
bool wtl_am_handlers_set(wtl_am_handlers *_Atomic *h, int id, wtl_am_handler handler);

/* NULL if there is none. `h` may be NULL. */
wtl_am_handler wtl_am_handlers_find(const wtl_am_handlers *h, int id);

void wtl_am_handlers_free(wtl_am_handlers *h);

#endif
