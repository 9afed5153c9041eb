/* plugin.h - the calls of the plug-in, which it fills in when it starts. */
typedef struct calls {
  int me, n;
  int (*gather)(const void *from, void *to, int bytes);
  int (*exchange)(const void *from, void *to, int bytes);
  int (*barrier)(void);
  void (*end)(void);
} calls;
