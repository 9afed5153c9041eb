program f
  implicit none
  include 'mpif.h'
  integer :: ierr, rank, n, got, s
  integer :: status(MPI_STATUS_SIZE)
  integer :: v
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, mod(rank+1,n), 1, got, 1, MPI_INTEGER, mod(rank+n-1,n), 1, MPI_COMM_WORLD, status, ierr)
  v = got
  call MPI_Allreduce(MPI_IN_PLACE, v, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0) then
    call MPI_Send(v, 1, MPI_INTEGER, 1, 3, MPI_COMM_WORLD, ierr)
  else if (rank == 1) then
    call MPI_Recv(s, 1, MPI_INTEGER, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    print *, 'sum', s, 'left', got
  end if
  call MPI_Finalize(ierr)
end program
