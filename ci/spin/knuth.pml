/* Knuth 1966. With DE_BRUIJN, de Bruijn 1967; with EISENBERG_MCGUIRE, Eisenberg and McGuire 1972. One statement is one access. */
#include "sections.pml"

byte control[N];                                        /* 0: idle, 1: wants in, 2: got through */
byte k;

#ifdef EISENBERG_MCGUIRE
#define next_in_circle(j) ((j + 1) % N)
#else
#define next_in_circle(j) ((j + N - 1) % N)
#endif

active [N] proctype process() {
    byte j;
again:
    remainder();
one:
    control[me] = 1;                                    /* 1 */
two:
    j = k;                                              /* 21 */
    do
    :: j == me -> break
    :: else ->
        if
        :: control[j] != 0 -> goto two                  /* 22 */
        :: else -> j = next_in_circle(j)
        fi
    od;
    control[me] = 2;                                    /* 3 */
    j = FIRST_OTHER;
    do
    :: j >= N -> break
    :: else ->
        if
        :: control[j] == 2 -> j = 0; goto one           /* 4 */
        :: else -> j = OTHER_AFTER(j)
        fi
    od;
    j = 0;
#ifdef EISENBERG_MCGUIRE
    j = k;                                              /* 51 */
    if
    :: j == me
    :: else ->
        if
        :: control[j] != 0 -> j = 0; goto one           /* 52 */
        :: else
        fi
    fi;
    j = 0;
#endif
#ifndef DE_BRUIJN
    k = me;                                             /* 5, or 6 */
#endif
    critical_section();
#if defined(EISENBERG_MCGUIRE)
    j = k;                                              /* 71 */
    j = (j + 1) % N;
    do
    :: control[j] != 0 -> break                         /* 72 */
    :: else -> j = (j + 1) % N
    od;
    k = j;                                              /* 73 */
#elif defined(DE_BRUIJN)
    j = k;                                              /* 61 */
    if
    :: j == me -> k = next_in_circle(j)                 /* 63 */
    :: else ->
        if
        :: control[j] == 0 -> k = next_in_circle(j)     /* 62, 63 */
        :: else
        fi
    fi;
#else
    k = next_in_circle(me);                             /* 6 */
#endif
    j = 0;
    control[me] = 0;                                    /* 7, or 8 */
    leaves();
    goto again
}
