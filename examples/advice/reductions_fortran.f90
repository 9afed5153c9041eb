! reductions_fortran.f90 - reduces two maxima one after the other.
program reductions_fortran
  use mpi
  implicit none
  integer :: ierr, round, rounds
  double precision :: mine(2), most(2)
  character(len=16) :: word
  rounds = 100000
  if (command_argument_count() > 0) then
    call get_command_argument(1, word)
    read (word, *) rounds
  end if
  mine = (/1d0, 2d0/)
  call MPI_Init(ierr)
  do round = 1, rounds
#ifdef MENDED
    call MPI_Allreduce(mine, most, 2, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
#else
    call MPI_Allreduce(mine(1), most(1), 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr) ! flaw
    call MPI_Allreduce(mine(2), most(2), 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
#endif
    mine(1) = most(1) + round
    mine(2) = most(2) - round
  end do
  call MPI_Finalize(ierr)
end program
