/* marks.h - files by which a program tells how far it has come, and the time it has. Programs of the campaign of faults. */
#ifndef WTL_TESTS_MARKS_H
#define WTL_TESTS_MARKS_H

#include <fcntl.h>
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Command line of each: PLACE SECONDS FOLDER [traps]. With traps, floating-point exceptions end the program. */
typedef struct task {
  const char *place, *folder;
  double seconds, until; /* s */
} task;

static inline double now_s(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline task task_of(int argc, char **argv)
{
  if (argc < 4) exit(64);
  if (argc > 4 && strcmp(argv[4], "traps") == 0) feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
  return (task){.place = argv[1], .folder = argv[3], .seconds = atof(argv[2])};
}

static inline int is_at(const task *t, const char *place)
{
  return strcmp(t->place, place) == 0;
}

static inline int is_over(const task *t)
{
  return now_s() >= t->until;
}

/* FOLDER/WHAT-RANK exists from now on. */
static inline void mark(const task *t, const char *what, int rank)
{
  char path[4096];
  snprintf(path, sizeof path, "%s/%s-%d", t->folder, what, rank);
  close(open(path, O_CREAT | O_WRONLY, 0644));
}

/* The PE is there, and its time begins. */
static inline void begin(task *t, int rank)
{
  mark(t, "there", rank);
  t->until = now_s() + t->seconds;
}

/* Without a call of any library. */
static inline void compute(const task *t)
{
  while (!is_over(t)) continue;
}

static inline void crash(void)
{
  *(volatile int *)8 = 1;
}

#endif
