/* Tsay 1998, two processes. */
#include "sections.pml"

#define rival (1 - me)

bool flag[2];
byte last;

active [N] proctype process() {
again:
    remainder();
    flag[me] = true;                                    /* 1 */
    last = me;                                          /* 2 */
    if
    :: flag[rival] -> wait_until(last != me)            /* 31, 32 */
    :: else
    fi;
    critical_section();
    flag[me] = false;                                   /* 4 */
    last = me;                                          /* 5 */
    leaves();
    goto again
}
