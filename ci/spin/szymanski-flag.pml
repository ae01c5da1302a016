/* Szymanski 1988, with a flag of five values. One statement is one access. */
#include "sections.pml"

byte flag[N];

active [N] proctype process() {
    byte j;
again:
    remainder();
    flag[me] = 1;                                       /* 1 */
    j = FIRST_OTHER;
    do
    :: j >= N -> break
    :: else -> wait_until(flag[j] < 3); j = OTHER_AFTER(j)  /* 2 */
    od;
    flag[me] = 3;                                       /* 3 */
    j = FIRST_OTHER;
    do
    :: j >= N -> break
    :: else ->
        if
        :: flag[j] == 1 -> goto room                    /* 4 */
        :: else -> j = OTHER_AFTER(j)
        fi
    od;
    goto out;
room:
    flag[me] = 2;                                       /* 5 */
look:
    j = FIRST_OTHER;
    do
    :: j >= N -> goto look
    :: else ->
        if
        :: flag[j] == 4 -> break                        /* 6 */
        :: else -> j = OTHER_AFTER(j)
        fi
    od;
out:
    flag[me] = 4;                                       /* 7 */
    j = 0;
    do
    :: j == me -> break
    :: else -> wait_until(flag[j] < 2); j++             /* 8 */
    od;
    j = 0;
    critical_section();
    j = me + 1;
    do
    :: j == N -> break
    :: else -> wait_until(flag[j] < 2 || flag[j] == 4); j++ /* 9 */
    od;
    j = 0;
    flag[me] = 0;                                       /* 10 */
    leaves();
    goto again
}
