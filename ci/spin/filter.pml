/* Peterson's filter, 1981, on atomic registers. */
#include "sections.pml"

byte level[N];
byte last[N];

active [N] proctype process() {
    byte l, j;
again:
    remainder();
    l = 1;
up:
    level[me] = l;                                      /* 2 */
    last[l] = me;                                       /* 3 */
look:
    if
    :: last[l] != me -> goto passes                     /* 41 */
    :: else -> j = FIRST_OTHER
    fi;
    do
    :: j >= N -> break
    :: else ->
        if
        :: level[j] >= l -> goto look                   /* 42 */
        :: else -> j = OTHER_AFTER(j)
        fi
    od;
passes:
    j = 0;
    if
    :: l < N - 1 -> l++; goto up
    :: else -> l = 0
    fi;
    critical_section();
    level[me] = 0;                                      /* 5 */
    leaves();
    goto again
}
