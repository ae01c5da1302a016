/* J. H. Anderson 1993, two processes. */
#include "sections.pml"

#define rival (1 - me)

bool p[2] = true, q[2] = true, t[2] = true;

active [N] proctype process() {
    bool mine;
again:
    remainder();
    p[me] = false;                                      /* 11 */
    q[me] = false;                                      /* 12 */
    mine = (me == 1 -> !t[rival] : t[rival]);           /* 2 */
    t[me] = mine;                                       /* 3 */
    if
    :: mine == (me == 0) -> p[me] = true                /* 41 */
    :: else -> q[me] = true                             /* 41 */
    fi;
    if
    :: mine -> wait_until(p[rival])                     /* 42 */
    :: else -> wait_until(q[rival])                     /* 42 */
    fi;
    mine = false;
    critical_section();
    p[me] = true;                                       /* 51 */
    q[me] = true;                                       /* 52 */
    leaves();
    goto again
}
