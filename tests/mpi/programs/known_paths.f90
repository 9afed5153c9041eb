! The Fortran part of known_paths.c.
module solver
contains
  subroutine step()
    external :: the_call
    call inside()
    call the_call()
    call keep()
  contains
    subroutine inside()
      call the_call()
      call keep()
    end subroutine
  end subroutine

  recursive subroutine descend(n)
    integer, intent(in) :: n
    external :: the_call
    if (n > 0) call descend(n - 1)
    if (n == 0) call the_call()
    call keep()
  end subroutine
end module

subroutine keep()
end subroutine

subroutine plain()
  external :: the_call
  call the_call()
  call keep()
end subroutine

subroutine in_fortran()
  use solver
  call step()
  call plain()
  call descend(2)
  call keep()
end subroutine
