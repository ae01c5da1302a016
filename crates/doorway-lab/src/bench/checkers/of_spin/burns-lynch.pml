/* Burns and Lynch 1980. While a process looks, j is the one it looks at; N while it is inside. */
#include "frame.pml"

bool flag[N];

inline goes_on() {
    j = OTHER_AFTER(j);
    if
    :: j == N -> enters()
    :: else
    fi
}

active [N] proctype process() {
    byte j;
end:
    flag[me] = false;                                                   /* 1 */
two:
    do
    :: d_step { j < me && !flag[j] -> j++ }                             /* 2 */
    :: d_step { j == me -> flag[me] = true; j = FIRST_OTHER }; break    /* 3 */
    od;
    do
    :: d_step { j < me && flag[j] -> j = 0 }; flag[me] = false; goto two  /* 4, 1 */
    :: d_step { j < N && !flag[j] -> goes_on() }                        /* 4, 5 */
    :: d_step { j == N -> leaves(); flag[me] = false; j = 0 }; goto end /* 6 */
    od
}
