/* Peterson without his turn: both raise their flags, and both wait for ever. */
#include "sections.pml"

#define rival (1 - me)

bool flag[2];

active [N] proctype process() {
again:
    remainder();
    flag[me] = true;                                    /* 1 */
    wait_until(!flag[rival]);                           /* 2 */
    critical_section();
    flag[me] = false;                                   /* 3 */
    leaves();
    goto again
}
