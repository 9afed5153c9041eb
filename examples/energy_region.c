/*
 * energy_region.c - joules by region in a plain C program without OpenSHMEM or a launcher.
 *
 *   cc energy_region.c $(pkg-config --cflags --libs wattle) -o energy_region && ./energy_region
 *
 * It adds up one matrix twice, along its rows and down its columns. The sum and the number of additions are the
 * same, but the order of memory accesses and the joules differ. Each figure has its provenance: measured, modelled
 * or unavailable.
 */
#include <stdio.h>
#include <stdlib.h>
#include <wattle.h>

enum { SIDE = 4096, REPEATS = 4, MOST_DOMAINS = 32 };

static double sum_by_rows(const double *m)
{
  double sum = 0;
  for (size_t y = 0; y < SIDE; y++)
    for (size_t x = 0; x < SIDE; x++) sum += m[y * SIDE + x];
  return sum;
}

static double sum_by_columns(const double *m)
{
  double sum = 0;
  for (size_t x = 0; x < SIDE; x++)
    for (size_t y = 0; y < SIDE; y++) sum += m[y * SIDE + x];
  return sum;
}

static int print_region(const wattle_energy_t *e, const char *name)
{
  wattle_joules_t figures[MOST_DOMAINS];
  int n = wattle_region_joules(e, name, figures, MOST_DOMAINS);
  if (n < 0) {
    fprintf(stderr, "energy_region: %s: %s\n", name, wattle_last_error());
    return 1;
  }
  printf("%s\n", name);
  for (int i = 0; i < n && i < MOST_DOMAINS; i++) {
    char line[256];
    wattle_joules_text(&figures[i], line, sizeof line);
    printf("  %s\n", line);
  }
  return 0;
}

int main(void)
{
  wattle_energy_t *e = wattle_energy_open(NULL); /* the best available meter, or that of WATTLE_METER */
  if (!e) {
    fprintf(stderr, "energy_region: %s\n", wattle_last_error());
    return 1;
  }
  double *matrix = malloc(sizeof(double) * SIDE * SIDE);
  if (!matrix) {
    fprintf(stderr, "energy_region: no memory for a matrix of %d x %d\n", SIDE, SIDE);
    return 1;
  }
  for (size_t i = 0; i < (size_t)SIDE * SIDE; i++)
    matrix[i] = (double)(i % 7); /* small whole numbers: sums are exact */

  double rows = 0, columns = 0;
  wattle_region_begin(e, "by rows");
  for (int r = 0; r < REPEATS; r++) rows += sum_by_rows(matrix);
  /* bytes that a model cannot count itself */
  wattle_energy_add_bytes(e, (double)REPEATS * SIDE * SIDE * sizeof(double));
  wattle_region_end(e, "by rows");

  wattle_region_begin(e, "by columns");
  for (int r = 0; r < REPEATS; r++) columns += sum_by_columns(matrix);
  wattle_energy_add_bytes(e, (double)REPEATS * SIDE * SIDE * 64); /* a whole cache line for each number */
  wattle_region_end(e, "by columns");

  printf("meter: %s%s%s\n", wattle_energy_meter(e), *wattle_energy_why(e) ? "; " : "", wattle_energy_why(e));
  int failed = print_region(e, "by rows") | print_region(e, "by columns");
  if (rows != columns) {
    fprintf(stderr, "energy_region: the sums differ: %g by rows, %g by columns\n", rows, columns);
    failed = 1;
  }
  free(matrix);
  wattle_energy_close(e);
  return failed;
}
