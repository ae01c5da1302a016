/* Raynal 2013, chapter 2: a lock made fair by turns, and the lock is Lamport's one bit of 1986. A process that waits reads the turn and the flag of
 * its owner each time. With FAULT the turn stays where it is. */
#include "sections.pml"

bool flag[N], x[N];
byte turn;

active [N] proctype process() {
    byte j;
    bool up;
again:
    remainder();
    flag[me] = true;
    do
    :: true ->
        j = turn;
        up = flag[j];
        if
        :: !up || j == me -> break
        :: else -> atomic { j = 0; up = false }
        fi
    od;
    up = false;
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
    flag[me] = false;
#ifndef FAULT
    j = turn;
    if
    :: !flag[j] -> turn = (j + 1) % N
    :: else
    fi;
    j = 0;
#endif
    x[me] = false;
    leaves();
    goto again
}
