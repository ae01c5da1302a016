/* Yang and Anderson 1993, Figure 1. One statement is one access; numbers are the paper's. */
#include "sections.pml"

#define rival (1 - me)

bool C[2];
byte T;
byte P[2];

active [N] proctype process() {
again:
    remainder();
    C[me] = true;                                       /* 1 */
    T = me;                                             /* 2 */
    P[me] = 0;                                          /* 3 */
    if
    :: C[rival] ->                                      /* 4 */
        if
        :: T == me ->                                   /* 5 */
            if
            :: P[rival] == 0 -> P[rival] = 1            /* 6, 7 */
            :: else
            fi;
            wait_until(P[me] != 0);                     /* 8 */
            if
            :: T == me -> wait_until(P[me] > 1)         /* 9, 10 */
            :: else
            fi
        :: else
        fi
    :: else
    fi;
    critical_section();                                 /* 11 */
    C[me] = false;                                      /* 12 */
    if
    :: T != me -> P[rival] = 2                          /* 13, 14 */
    :: else
    fi;
    leaves();
    goto again
}
