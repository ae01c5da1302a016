/* Anderson and Moir 1994, Figure 2 as a chain of slots N-1, ..., K. With SEVEN_BEFORE_SIX, a process wakes others before it frees the slot. */
#include "frame.pml"

short X[5] = { 0, 1, 2, 3, 4 };
byte Q[N];

inline passes() {
    j--;
    if
    :: j < K -> enters()
    :: else
    fi
}

active [N] proctype process() {
    byte j = N - 1;
end:
    do
    :: d_step { j >= K && X[j] != 0 -> X[j]--; passes() }               /* 2 */
    :: d_step { j >= K && X[j] == 0 -> X[j]-- };                        /* 2 */
        Q[j] = me;                                                      /* 3 */
        if
        :: d_step { X[j] >= 0 -> passes() }                             /* 4 */
        :: X[j] < 0 -> d_step { Q[j] != me -> passes() }                /* 4, 5 */
        fi
#ifdef SEVEN_BEFORE_SIX
    :: d_step { j < K -> leaves(); j++; Q[j] = me };                    /* 7 */
        do
        :: d_step { j < N - 1 -> X[j]++; j++ }; Q[j] = me               /* 6, 7 */
        :: d_step { j == N - 1 -> X[j]++ }; break                       /* 6 */
        od
#else
    :: d_step { j < K -> leaves(); j++; X[j]++ };                       /* 6 */
        do
        :: d_step { j < N - 1 -> Q[j] = me; j++ }; X[j]++               /* 7, 6 */
        :: d_step { j == N - 1 -> Q[j] = me }; break                    /* 7 */
        od
#endif
    or_stops_if(j == N - 1)
    od
}
