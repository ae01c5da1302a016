/* Lamport 1987, Algorithm 2. `x` and `y` hold one more than a name, and `y` is 0 while it is free. With FAULT a process that met another does not
 * wait for those that may still enter by the short way. */
#include "sections.pml"

bool b[N];
byte x, y;

active [N] proctype process() {
    byte j;
again:
    remainder();
start:
    b[me] = true;
    x = me + 1;
    if
    :: y != 0 ->
        b[me] = false;
        wait_until(y == 0);
        goto start
    :: else
    fi;
    y = me + 1;
    if
    :: x != me + 1 ->
        b[me] = false;
#ifndef FAULT
        do
        :: j == N -> break
        :: else -> wait_until(!b[j]); j++
        od;
        j = 0;
#endif
        if
        :: y != me + 1 -> wait_until(y == 0); goto start
        :: else
        fi
    :: else
    fi;
    critical_section();
    y = 0;
    b[me] = false;
    leaves();
    goto again
}
