/* Lycklama and Hadzilacos 1991. `turn` has two bits for each process, which it changes in turn; `which` is private. With FAULT a process does not wait
 * for those that came before it. */
#include "sections.pml"

bool c[N], v[N], x[N];
bool turn[2 * N];
bool which[N];

active [N] proctype process() {
    byte j;
    byte copies; /* bit 2 j and bit 2 j + 1: what the process j showed */
    bool seen;
#define copy(at) ((copies & (1 << (at))) != 0)
again:
    remainder();
    atomic { first_access(); c[me] = true };
    j = FIRST_OTHER;
    do
    :: j >= N -> break
    :: else ->
        copies = copies | (turn[2 * j] << (2 * j));
        copies = copies | (turn[2 * j + 1] << (2 * j + 1));
        j = OTHER_AFTER(j)
    od;
    which[me] = !which[me];
    turn[2 * me + which[me]] = !turn[2 * me + which[me]];
    v[me] = true;
    atomic { c[me] = false; last_access() };
#ifndef FAULT
    j = FIRST_OTHER;
    do
    :: j >= N -> break
    :: else ->
        do
        :: true ->
            if
            :: c[j] -> goto looks_again
            :: else
            fi;
            if
            :: !v[j] -> break
            :: else
            fi;
            if
            :: turn[2 * j] != copy(2 * j) -> break
            :: else
            fi;
            if
            :: turn[2 * j + 1] != copy(2 * j + 1) -> break
            :: else
            fi;
looks_again:
            skip
        od;
        j = OTHER_AFTER(j)
    od;
#endif
    copies = 0;
one_bit:
    x[me] = true;
    j = 0;
    do
    :: j == me -> break
    :: else ->
        if
        :: x[j] ->
            x[me] = false;
            wait_until(!x[j]);
            goto one_bit
        :: else -> j++
        fi
    od;
    j = me + 1;
    do
    :: j == N -> break
    :: else -> wait_until(!x[j]); j++
    od;
    j = 0;
    critical_section();
    x[me] = false;
    v[me] = false;
    leaves();
    goto again
}
