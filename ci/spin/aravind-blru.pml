/* Aravind 2011, BLRU, in the reading of the mCRL2 examples: a process that waits reads the three variables each time. With FAULT a process does not
 * look whether another one got through. */
#include "sections.pml"

bool flag[N], stage[N];
#if N == 2
byte date[N] = { 0, 1 };
#else
byte date[N] = { 0, 1, 2 };
#endif

#define MOST (2 * N - 1)

active [N] proctype process() {
    byte j, mine, latest;
    bool competes;
again:
    remainder();
    flag[me] = true;
two:
    stage[me] = false;
    j = FIRST_OTHER;
    do
    :: j >= N -> break
    :: else ->
        do
        :: true ->
            competes = flag[j];
            mine = date[me];
            if
            :: !competes || mine < date[j] -> break
            :: else -> atomic { competes = false; mine = 0 }
            fi
        od;
        atomic { competes = false; mine = 0; j = OTHER_AFTER(j) }
    od;
    stage[me] = true;
#ifndef FAULT
    j = FIRST_OTHER;
    do
    :: j >= N -> break
    :: else ->
        if
        :: stage[j] -> goto two
        :: else -> j = OTHER_AFTER(j)
        fi
    od;
#endif
    j = 0;
    critical_section();
    do
    :: j == N -> break
    :: else ->
        mine = date[j];
        d_step {
            if
            :: mine > latest -> latest = mine
            :: else
            fi;
            mine = 0;
            j++
        }
    od;
    date[me] = latest + 1;
    atomic { latest = 0; j = 0 };
    if
    :: date[me] >= MOST ->
        do
        :: j == N -> break
        :: else -> date[j] = j; j++
        od
    :: else
    fi;
    j = 0;
    stage[me] = false;
    flag[me] = false;
    leaves();
    goto again
}
