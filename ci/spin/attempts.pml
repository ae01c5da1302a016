/* The four attempts on the way to Dekker's algorithm (Dijkstra, EWD 123), chosen by ATTEMPT. */
#include "sections.pml"

#define rival (1 - me)

bool flag[2];
byte turn;

active [N] proctype process() {
again:
    remainder();
#if ATTEMPT == 1
    wait_until(turn == me);                             /* 1 */
    critical_section();
    turn = rival;                                       /* 2 */
#elif ATTEMPT == 2
    wait_until(!flag[rival]);                           /* 1 */
    flag[me] = true;                                    /* 2 */
    critical_section();
    flag[me] = false;                                   /* 3 */
#elif ATTEMPT == 3
    flag[me] = true;                                    /* 1 */
    wait_until(!flag[rival]);                           /* 2 */
    critical_section();
    flag[me] = false;                                   /* 3 */
#else
    flag[me] = true;                                    /* 1 */
    do
    :: !flag[rival] -> break                            /* 2 */
    :: else ->
        flag[me] = false;                               /* 3 */
        flag[me] = true                                 /* 4 */
    od;
    critical_section();
    flag[me] = false;                                   /* 5 */
#endif
    leaves();
    goto again
}
