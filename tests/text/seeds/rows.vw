1 |a b c:2
-1 0.5 'tag|user:2 anna 17:.5 |item x:1e-3 :3 :-4
0.25 2 1.5 tag|  x	y:7. |9 1 2:3E2

| 
|a
+1 'x |é 汉:1 é
