/* Anderson and Moir 1994, Figure 2 as a chain of slots N-1, ..., K, for N at most 3. One statement is one access; numbers are the paper's.
 * With SEVEN_BEFORE_SIX, a process wakes before it frees the slot. */
#include "sections.pml"

#if N == 2
short X[2] = { 0, 1 };
#else
short X[3] = { 0, 1, 2 };
#endif
byte Q[N];

inline acquire(j) {
    if
    :: d_step { X[j] == 0 -> X[j] = X[j] - 1 } ->       /* 2, and no slot was free */
        Q[j] = me;                                      /* 3 */
        if
        :: X[j] < 0 -> wait_until(Q[j] != me)           /* 4, 5 */
        :: else
        fi
    :: d_step { X[j] != 0 -> X[j] = X[j] - 1 }          /* 2 */
    fi
}

inline release(j) {
#ifdef SEVEN_BEFORE_SIX
    Q[j] = me;                                          /* 7 */
    X[j] = X[j] + 1                                     /* 6 */
#else
    X[j] = X[j] + 1;                                    /* 6 */
    Q[j] = me                                           /* 7 */
#endif
}

active [N] proctype process() {
again:
    remainder();
#if N > 2
    acquire(2);
#endif
#if K == 1
    acquire(1);
#endif
    critical_section();
#if K == 1
    release(1);
#endif
#if N > 2
    release(2);
#endif
    leaves();
    goto again
}
