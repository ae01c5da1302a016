/* Peterson and Fischer 1977, two processes. Each shows a sign while it competes. The first gives way by showing what its rival shows, and the
 * second by showing the opposite. With FAULT a process looks at its rival only once before it waits. */
#include "sections.pml"

#define rival (1 - me)
#define NONE 2
#define giving_way_to(sign) (sign == NONE -> 1 : (me == 0 -> sign : 1 - sign))

byte shows[2] = NONE;

active [N] proctype process() {
    byte seen, mine;
again:
    remainder();
    seen = shows[rival];
    d_step { mine = giving_way_to(seen); seen = 0 };
    shows[me] = mine;
#ifndef FAULT
    seen = shows[rival];
    if
    :: seen == NONE -> seen = 0
    :: else ->
        d_step { mine = giving_way_to(seen); seen = 0 };
        shows[me] = mine
    fi;
#endif
    wait_until(shows[rival] == NONE || giving_way_to(shows[rival]) != mine);
    mine = 0;
    critical_section();
    shows[me] = NONE;
    leaves();
    goto again
}
