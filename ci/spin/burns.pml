/* Burns and Lynch 1980, one bit. With SYMMETRIC, Burns 1981. One statement is one access. */
#include "sections.pml"

bool flag[N];
byte turn;

active [N] proctype process() {
    byte j;
again:
    remainder();
one:
#ifdef SYMMETRIC
    flag[me] = true;                                    /* 1 */
    turn = me;                                          /* 2 */
three:
    if
    :: turn != me -> goto five                          /* 3 */
    :: else -> j = FIRST_OTHER
    fi;
    do
    :: j >= N -> break
    :: else ->
        if
        :: flag[j] -> j = 0; goto three                 /* 4 */
        :: else -> j = OTHER_AFTER(j)
        fi
    od;
    j = 0;
    goto in;
five:
    flag[me] = false;                                   /* 5 */
six:
    j = FIRST_OTHER;
    do
    :: j >= N -> break
    :: else ->
        if
        :: flag[j] -> goto six                          /* 6 */
        :: else -> j = OTHER_AFTER(j)
        fi
    od;
    j = 0;
    goto one;
in:
#else
    flag[me] = false;                                   /* 1 */
    do
    :: j == me -> break
    :: else -> wait_until(!flag[j]); j++                /* 2 */
    od;
    j = 0;
    flag[me] = true;                                    /* 3 */
    do
    :: j == me -> break
    :: else ->
        if
        :: flag[j] -> j = 0; goto one                   /* 4 */
        :: else -> j++
        fi
    od;
    j = me + 1;
    do
    :: j == N -> break
    :: else -> wait_until(!flag[j]); j++                /* 5 */
    od;
    j = 0;
#endif
    critical_section();
    flag[me] = false;                                   /* 6, or 7 */
    leaves();
    goto again
}
