/*
 * load_order.c - makes the linker relocate the preload library before the MPI.
 *
 * The linker relocates libraries after those that they need, and independent ones from the last to the first. So the
 * preload library would come after the MPI. But an MPI calls some of its own functions by their public names, such as
 * MPICH 4.2 MPI_File_read_c. Those lead to the preload library, and where they are indirect functions (newer_names.c)
 * glibc warns of each on standard error, because it cannot call into a library that is not relocated.
 *
 * The preload library therefore needs libwattle-mpi_order.so, which is this file and needs the preload library. The
 * linker puts it behind the libraries of the program, finds the preload library through it, and relocates both first.
 */
extern const char wtl_mpi_load_order __attribute__((visibility("hidden")));
const char wtl_mpi_load_order = 0;
