// Written by protoc-gen-contract 0.1.0. Do not edit.
// Zeros of all scripts (Nd), runs of other numerals (No, Nl) and currency signs (Sc) of Unicode 18.0.0, as numbers of base 36. Written by tests/typescript.

export const ZEROS =
  "19c 40 5s bq 3k 3k 3k 3k 3k 3k 3k 3k 3k 2y 3k 28 80 28 1g0 1c 8m 3u 4w g 5c 2o 40 g r80 j4 1c 5s w 2o bk gf4 " +
  "13k 1ow g me 3u 1y 4a 80 9s 3k ao 34 g a 2e c0 34 io 2o 74 28 1s a8 d0g 1tc 2o 40 f4 iv4 25a a a a a 1u2 c0 e8 " +
  "75 nz 3og";

export const COUNTERS =
  "4y 1 6 0 3 2 1ti 5 ah 5 3d 2 3q 6 62 6 i 8 c2 9 ty j oi 2 74 9 dd 0 1au 0 4 5 7 9 5j 1e 3 4 k7 1n 27 l hj t " +
  "12i 0 lm 0 q 8 f 2 9k 3 3v 9 v 7 2 e x 9 14 e mxz 9 8x 5 hjm 18 d 1k i 1 9i q 11 3 u 0 9 0 3r 4 w3 7 q 6 14 8 " +
  "24 4 n 5 4h 1 3 f 3 19 1t 8 1h 1 v 2 24 4 2x 7 p 7 16 6 97 5 9t u 4f 9 17 3 35 6 3r j ak j 11i 1 bz 8 o8 i no " +
  "k to 33 6 a 5t 8m dlh 6 m7 m 9q 2 jii j d j 31 o 47j 8 pu 1m 2 2 2 3 25 18 2 e qr c";

export const CURRENCY_SIGNS = "\u00a2\u00a3\u00a4\u00a5\u058f\u060b\u07fe\u07ff\u09f2\u09f3\u09fb\u0af1\u0bf9\u0e3f\u17db\u20a0\u20a1\u20a2\u20a3\u20a4\u20a5\u20a6\u20a7\u20a8\u20a9\u20aa\u20ab\u20ac\u20ad\u20ae\u20af\u20b0\u20b1\u20b2\u20b3\u20b4\u20b5\u20b6\u20b7\u20b8\u20b9\u20ba\u20bb\u20bc\u20bd\u20be\u20bf\u20c0\u20c1\u20c2\u20c3\u20c4\ua838\ufdfc\ufe69\uff04\uffe0\uffe1\uffe5\uffe6\ud807\udfdd\ud807\udfde\ud807\udfdf\ud807\udfe0\ud838\udeff\ud83b\udcb0";
