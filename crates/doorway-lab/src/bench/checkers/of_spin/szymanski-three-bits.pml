/* Szymanski 1990, three bits, in the reading of the mCRL2 examples. While a process looks, j is the one it looks at; N after the last, and inside. */
#include "frame.pml"

bool a[N], w[N], s[N];

#define goes_on j = OTHER_AFTER(j)
#define starts j = FIRST_OTHER
#define at_the_last (OTHER_AFTER(j) == N)

inline looks_at_the_smaller() {
    if
    :: j == me -> j = N; enters()
    :: else
    fi
}

active [N] proctype process() {
    byte j = FIRST_OTHER;
end:
    a[me] = true;                                                       /* 1 */
    do
    :: d_step { j < N && !s[j] -> goes_on }                             /* 2 */
    :: d_step { j == N -> w[me] = true; starts }; break                 /* 3 */
    od;
    a[me] = false;                                                      /* 4 */
seven:
    do
    :: d_step { j < N && a[j] -> starts }; goto eighteen                /* 7 */
    :: d_step { j < N && !a[j] -> goes_on }                             /* 7 */
    :: d_step { j == N -> s[me] = true; starts }; break                 /* 9 */
    od;
    do
    :: d_step { j < N && a[j] -> starts }; break                        /* 11 */
    :: d_step { j < N && !a[j] -> goes_on }                             /* 11 */
    :: d_step { j == N -> w[me] = false; starts }; goto fifteen         /* 14 */
    od;
    s[me] = false;                                                      /* 12 */
eighteen:
    do
    :: d_step { w[j] && !at_the_last -> goes_on }                       /* 181 */
    :: d_step { w[j] && at_the_last -> starts }; goto seven             /* 181 */
    :: !w[j] ->                                                         /* 181 */
        if
        :: d_step { !s[j] && !at_the_last -> goes_on }                  /* 182 */
        :: d_step { !s[j] && at_the_last -> starts }; goto seven        /* 182 */
        :: d_step { s[j] -> j = 0 }; break                              /* 182 */
        fi
    od;
    s[me] = true;                                                       /* 20 */
    d_step { w[me] = false; looks_at_the_smaller() };                   /* 21 */
    goto out;
fifteen:
    do
    :: d_step { !w[j] && !at_the_last -> goes_on }                      /* 15 */
    :: d_step { !w[j] && at_the_last -> j = 0; looks_at_the_smaller() }; break  /* 15 */
    od;
out:
    do
    :: d_step { j < me && !s[j] -> j++; looks_at_the_smaller() }        /* 22 */
    :: d_step { j == N -> leaves(); s[me] = false; starts }; goto end   /* 24 */
    od
}
