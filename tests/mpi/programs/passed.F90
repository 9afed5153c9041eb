! passed.F90 - a call with text among its arguments, which the preload library only counts.
program passed
  use mpi
  implicit none
  integer :: file, rank, error, length
  character(len=512) :: name
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call get_command_argument(1, name, length)
  call MPI_File_open(MPI_COMM_WORLD, name(1:length), MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, error)
  call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, error)
  if (error /= MPI_SUCCESS) print '(a)', 'no view'
  call MPI_File_close(file, error)
  if (rank == 0) print '(a)', 'all as it should be'
  call MPI_Finalize(error)
end program
