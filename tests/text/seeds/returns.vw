1 |a bcd:2e |bx
1|a
