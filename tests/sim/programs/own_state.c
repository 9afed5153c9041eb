/*
 * own_state.c - tests that each PE has its own state of the C library and that all its clocks are simulated.
 *
 * PE k reads options while others do, draws the numbers that a process draws, and cuts its own text. It prints `good`
 * if all of it was right.
 *
 * usage: own_state -a -n NUMBER WORD
 */
#include <getopt.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

static int wrong;

static void expect(int good, const char *what)
{
  if (good) return;
  wrong++;
  printf("PE %d: %s\n", shmem_my_pe(), what);
}

static void options(int argc, char **argv)
{
  int found, all = 0, number = 0;
  while ((found = getopt(argc, argv, "an:")) != -1) {
    if (found == 'a') all = 1;
    if (found == 'n') number = atoi(optarg);
    shmem_barrier_all(); /* the others, too, are on their way */
  }
  expect(all && number == 42, "options");
  expect(optind == argc - 1 && strcmp(argv[optind], "word") == 0, "optind");
}

static void text(void)
{
  char own[] = "a b c";
  strtok(own, " ");
  shmem_barrier_all();
  strtok(NULL, " ");
  shmem_barrier_all();
  expect(strcmp(strtok(NULL, " "), "c") == 0, "strtok");
}

/* As the C library documents its sequences by seed: the first number of a process that gave none is that of seed 1. */
static void numbers(void)
{
  int first = rand(), second;
  double of48 = drand48();
  shmem_barrier_all();
  second = rand();
  srand(1);
  expect(rand() == first, "the first number");
  shmem_barrier_all();
  expect(rand() == second, "the second number");
  srand48(7 + shmem_my_pe());
  of48 = drand48();
  shmem_barrier_all();
  srand48(7 + shmem_my_pe());
  expect(of48 == drand48(), "drand48");
}

static void clocks(void)
{
  struct timespec t;
  struct rusage used;
  struct tms ticks;
  struct timespec nap = {.tv_nsec = 500000000};
  expect(timespec_get(&t, TIME_UTC) == TIME_UTC && t.tv_sec < 60, "timespec_get");
  clock_t before = times(&ticks);
  clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
  expect((times(&ticks) - before) * 4 >= sysconf(_SC_CLK_TCK), "times");
  getrusage(RUSAGE_SELF, &used);
  printf("PE %d: clock %ld, %ld us\n", shmem_my_pe(), (long)clock(), (long)used.ru_utime.tv_usec);
}

int main(int argc, char **argv)
{
  shmem_init();
  options(argc, argv);
  text();
  numbers();
  clocks();
  shmem_barrier_all();
  if (!wrong) printf("good\n");
  shmem_finalize();
  return wrong != 0;
}
