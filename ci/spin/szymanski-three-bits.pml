/* Szymanski 1990, three bits, in the reading of the mCRL2 examples. With SHUT_FIRST, 18 reads s before w. */
#include "sections.pml"

bool a[N], w[N], s[N];

active [N] proctype process() {
    byte j;
again:
    remainder();
    a[me] = true;                                       /* 1 */
    j = FIRST_OTHER;
    do
    :: j >= N -> break
    :: else -> wait_until(!s[j]); j = OTHER_AFTER(j)    /* 2 */
    od;
    w[me] = true;                                       /* 3 */
    a[me] = false;                                      /* 4 */
five:
    j = FIRST_OTHER;
    do
    :: j >= N -> break
    :: else ->
        if
        :: a[j] -> goto eighteen                        /* 7 */
        :: else -> j = OTHER_AFTER(j)
        fi
    od;
    s[me] = true;                                       /* 9 */
    j = FIRST_OTHER;
    do
    :: j >= N -> break
    :: else ->
        if
        :: a[j] -> s[me] = false; goto eighteen         /* 11, 12 */
        :: else -> j = OTHER_AFTER(j)
        fi
    od;
    w[me] = false;                                      /* 14 */
    j = FIRST_OTHER;
    do
    :: j >= N -> break
    :: else -> wait_until(!w[j]); j = OTHER_AFTER(j)    /* 15 */
    od;
    goto out;
eighteen:
    j = FIRST_OTHER;
    do
    :: j >= N -> goto five
    :: else ->
#ifdef SHUT_FIRST
        if
        :: s[j] ->                                      /* 181 */
            if
            :: !w[j] -> break                           /* 182 */
            :: else -> j = OTHER_AFTER(j)
            fi
        :: else -> j = OTHER_AFTER(j)
        fi
#else
        if
        :: !w[j] ->                                     /* 181 */
            if
            :: s[j] -> break                            /* 182 */
            :: else -> j = OTHER_AFTER(j)
            fi
        :: else -> j = OTHER_AFTER(j)
        fi
#endif
    od;
    s[me] = true;                                       /* 20 */
    w[me] = false;                                      /* 21 */
out:
    j = 0;
    do
    :: j == me -> break
    :: else -> wait_until(!s[j]); j++                   /* 22 */
    od;
    j = 0;
    critical_section();
    s[me] = false;                                      /* 24 */
    leaves();
    goto again
}
