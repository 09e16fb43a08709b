1 3 -0.125 'a b| c d
x |a b
1 -2 |a b
1 1 1 1 |a
1 2 3
1 |a:x b
1 |a b:x
1 |a b:1:2
1 |a b:nan
1 |a b:1e18
1 |a:1e10 b:1e10
1 |a ÿ
