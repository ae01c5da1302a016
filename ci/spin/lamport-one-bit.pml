/* Lamport 1986, the one-bit algorithm. */
#include "sections.pml"

bool x[N];

active [N] proctype process() {
    byte j;
again:
    remainder();
one:
    x[me] = true;                                       /* 1 */
    do
    :: j == me -> break
    :: else ->
        if
        :: x[j] ->                                      /* 2 */
            x[me] = false;                              /* 3 */
            wait_until(!x[j]);                          /* 4 */
            j = 0;
            goto one
        :: else -> j++
        fi
    od;
    j = me + 1;
    do
    :: j == N -> break
    :: else -> wait_until(!x[j]); j++                   /* 5 */
    od;
    j = 0;
    critical_section();
    x[me] = false;                                      /* 6 */
    leaves();
    goto again
}
