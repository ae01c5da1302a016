/* Kessels 1982, two processes. */
#include "sections.pml"

#define rival (1 - me)
/* The value of r[me] while this process is the one that came last. */
#define came_last (me == 1 -> !r[rival] : r[rival])

bool q[2], r[2];

active [N] proctype process() {
    bool mine;
again:
    remainder();
    q[me] = true;                                       /* 1 */
    mine = came_last;                                   /* 21 */
    r[me] = mine;                                       /* 22 */
    do
    :: !q[rival] -> break                               /* 31 */
    :: else ->
        if
        :: mine != came_last -> break                   /* 32 */
        :: else
        fi
    od;
    mine = false;
    critical_section();
    q[me] = false;                                      /* 4 */
    leaves();
    goto again
}
