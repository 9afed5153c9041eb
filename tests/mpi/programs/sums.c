/* Sums whose last bits depend on the order of the additions, printed to the last bit. */
#include <mpi.h>
#include <stdio.h>

enum { MOST = 40000 };
static double mine[MOST], all[MOST], scanned[MOST];

int main(int argc, char **argv)
{
  int me, n, counts[64];
  double check = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  for (int i = 0; i < MOST; i++) mine[i] = 1.0 / (1 + i + 7 * me) * (i % 3 ? 1 : -1e3);
  for (int count = 1; count <= MOST; count *= 10) {
    MPI_Allreduce(mine, all, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Scan(mine, scanned, count, MPI_DOUBLE, MPI_PROD, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) check = check / 3 + all[i] + scanned[i];
    MPI_Reduce(mine, all, count, MPI_DOUBLE, MPI_SUM, n - 1, MPI_COMM_WORLD);
    for (int i = 0; me == n - 1 && i < count; i++) check = check / 3 + all[i];
  }
  for (int i = 0; i < n; i++) counts[i] = 100;
  MPI_Reduce_scatter(mine, all, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 100; i++) check = check / 3 + all[i];
  MPI_Gather(&check, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; me == 0 && i < n; i++) printf("%d: %a\n", i, all[i]);
  MPI_Finalize();
  return 0;
}
