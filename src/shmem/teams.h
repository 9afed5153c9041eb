/* teams.h - the calls of OpenSHMEM that make and end teams and contexts, with their checks and messages. */
#ifndef WTL_SHMEM_TEAMS_H
#define WTL_SHMEM_TEAMS_H

#include "shmem.h"
#include "shmem/shmem_front.h"

/* A team to be made. */
typedef struct wtl_new_team {
  wtl_range pes; /* of the parent */
  const shmem_team_config_t *config;
  long mask;
  shmem_team_t *team; /* receives the handle */
} wtl_new_team;

/* The results are those of the standard: 0, or not 0 if there is no new team. split_2d fills in the PEs of both
 * teams. */
int wtl_shmem_split_strided(wtl_frame *f, shmem_team_t parent, const wtl_new_team *p);
int wtl_shmem_split_2d(wtl_frame *f, shmem_team_t parent, int xrange, wtl_new_team *row, wtl_new_team *column);
int wtl_shmem_get_config(wtl_frame *f, shmem_team_t team, long mask, shmem_team_config_t *config);
void wtl_shmem_team_destroy(wtl_frame *f, shmem_team_t team);
int wtl_shmem_translate(wtl_frame *f, shmem_team_t from, int pe, shmem_team_t to);
void *wtl_shmem_team_ptr(wtl_frame *f, shmem_team_t team, const void *dest, int pe);

int wtl_shmem_ctx_create(wtl_frame *f, shmem_team_t team, long options, shmem_ctx_t *ctx);
void wtl_shmem_ctx_destroy(wtl_frame *f, shmem_ctx_t ctx);
int wtl_shmem_ctx_get_team(wtl_frame *f, shmem_ctx_t ctx, shmem_team_t *team);
void wtl_shmem_session(wtl_frame *f, shmem_ctx_t ctx, bool starts, long options);

/* Completes the operations of `ctx` on `n` PEs of its team. */
void wtl_shmem_pe_quiet(wtl_frame *f, shmem_ctx_t ctx, const int *pes, size_t n);

/* Active messages: returns the PE that receives a request on a context. *done: the counter to increase when the
 * request is done; NULL: none. */
int wtl_shmem_am_target(wtl_frame *f, shmem_ctx_t ctx, int dest, uint64_t **done);
void wtl_shmem_ctx_am_quiet(wtl_frame *f, shmem_ctx_t ctx);

#endif
