"""`wattle run`: starts a program, passes everything through, and shows afterwards where its time and joules went."""
