// Characters with a wide or narrow decomposition of Unicode 18.0.0, as numbers of base 36. Written by tests/typescript.

export const WIDE =
  "9hc,w 14w1,x 1,y 1,z 1,10 1,11 1,12 1,13 1,14 1,15 1,16 1,17 1,18 1,19 1,1a 1,1b 1,1c 1,1d 1,1e 1,1f 1,1g 1,1h " +
  "1,1i 1,1j 1,1k 1,1l 1,1m 1,1n 1,1o 1,1p 1,1q 1,1r 1,1s 1,1t 1,1u 1,1v 1,1w 1,1x 1,1y 1,1z 1,20 1,21 1,22 1,23 " +
  "1,24 1,25 1,26 1,27 1,28 1,29 1,2a 1,2b 1,2c 1,2d 1,2e 1,2f 1,2g 1,2h 1,2i 1,2j 1,2k 1,2l 1,2m 1,2n 1,2o 1,2p " +
  "1,2q 1,2r 1,2s 1,2t 1,2u 1,2v 1,2w 1,2x 1,2y 1,2z 1,30 1,31 1,32 1,33 1,34 1,35 1,36 1,37 1,38 1,39 1,3a 1,3b " +
  "1,3c 1,3d 1,3e 1,3f 1,3g 1,3h 1,3i 1,879 1,87a 1,9he 1,9ho 1,9hp 1,9hd 1,9ob 1,9o2 1,9lt 1,9lv 1,9lx 1,9lz " +
  "1,9m1 1,9nn 1,9np 1,9nr 1,9mr 1,9oc 1,9lu 1,9lw 1,9ly 1,9m0 1,9m2 1,9m3 1,9m5 1,9m7 1,9m9 1,9mb 1,9md 1,9mf " +
  "1,9mh 1,9mj 1,9ml 1,9mn 1,9mp 1,9ms 1,9mu 1,9mw 1,9my 1,9mz 1,9n0 1,9n1 1,9n2 1,9n3 1,9n6 1,9n9 1,9nc 1,9nf " +
  "1,9ni 1,9nj 1,9nk 1,9nl 1,9nm 1,9no 1,9nq 1,9ns 1,9nt 1,9nu 1,9nv 1,9nw 1,9nx 1,9nz 1,9o3 1,9ll 1,9lm 1,9r8 " +
  "1,9pt 1,9pu 1,9pv 1,9pw 1,9px 1,9py 1,9pz 1,9q0 1,9q1 1,9q2 1,9q3 1,9q4 1,9q5 1,9q6 1,9q7 1,9q8 1,9q9 1,9qa " +
  "1,9qb 1,9qc 1,9qd 1,9qe 1,9qf 1,9qg 1,9qh 1,9qi 1,9qj 1,9qk 1,9ql 1,9qm 4,9qn 1,9qo 1,9qp 1,9qq 1,9qr 1,9qs " +
  "3,9qt 1,9qu 1,9qv 1,9qw 1,9qx 1,9qy 3,9qz 1,9r0 1,9r1 1,9r2 1,9r3 1,9r4 3,9r5 1,9r6 1,9r7 4,4i 1,4j 1,4s 1,4v " +
  "1,4m 1,4l 1,6g9 2,7b6 1,6mo 1,6mp 1,6mq 1,6mr 1,7fk 1,7gr";
