/*
 * files.c - each process writes to a file by requests that do not block, and reads from it. Prints what it counted.
 *
 * usage: files FILE
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { PIECES = 10, WORDS = 4096 };

static MPI_File file_of(const char *name, int mode)
{
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file);
  return file;
}

int main(int argc, char **argv)
{
  static int words[PIECES][WORDS], back[PIECES][WORDS];
  MPI_Request requests[PIECES];
  int me, n;
  long right = 0, all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  for (int i = 0; i < PIECES * WORDS; i++) words[i / WORDS][i % WORDS] = me * 1000000 + i;
  MPI_File file = file_of(argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR);
  for (int i = 0; i < PIECES; i++)
    MPI_File_iwrite_at(file, (MPI_Offset)(me * PIECES + i) * (MPI_Offset)sizeof words[i], words[i], WORDS, MPI_INT,
                       &requests[i]);
  MPI_Waitall(PIECES, requests, MPI_STATUSES_IGNORE);
  MPI_File_close(&file);
  file = file_of(argv[1], MPI_MODE_RDONLY);
  for (int i = 0; i < PIECES; i++)
    MPI_File_iread_at(file, (MPI_Offset)(me * PIECES + i) * (MPI_Offset)sizeof back[i], back[i], WORDS, MPI_INT,
                      &requests[i]);
  MPI_Waitall(PIECES, requests, MPI_STATUSES_IGNORE);
  MPI_File_close(&file);
  for (int i = 0; i < PIECES * WORDS; i++) right += words[i / WORDS][i % WORDS] == back[i / WORDS][i % WORDS];
  MPI_Reduce(&right, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (me == 0) printf("count %ld\n", all / n);
  MPI_Finalize();
  return 0;
}
