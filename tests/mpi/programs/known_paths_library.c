/* A library of known_paths.c that is loaded and unloaded. NAME is the name of its function. */
__attribute__((noinline, noclone)) static void NAME(void (*function)(void))
{
  function();
  __asm__ volatile("");
}

void library_enter(void (*function)(void))
{
  NAME(function);
  __asm__ volatile("");
}
