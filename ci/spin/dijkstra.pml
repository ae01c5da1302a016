/* Dijkstra 1965. One statement is one access. */
#include "sections.pml"

bool b[N], c[N];
byte k;

active [N] proctype process() {
    byte j;
again:
    remainder();
    b[me] = true;                                       /* 1 */
two:
    if
    :: k != me ->                                       /* 2 */
        c[me] = false;                                  /* 3 */
        j = k;                                          /* 41 */
        if
        :: !b[j] -> j = 0; k = me                       /* 42, 43 */
        :: else -> j = 0
        fi;
        goto two
    :: else
    fi;
    c[me] = true;                                       /* 51 */
    j = FIRST_OTHER;
    do
    :: j >= N -> break
    :: else ->
        if
        :: c[j] -> j = 0; goto two                      /* 52 */
        :: else -> j = OTHER_AFTER(j)
        fi
    od;
    j = 0;
    critical_section();
    c[me] = false;                                      /* 6 */
    b[me] = false;                                      /* 7 */
    leaves();
    goto again
}
