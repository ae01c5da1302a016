/* Hehner and Shyamasundar 1981. An idle process has the largest ticket, and a process that draws has ticket 0. With FAULT a process stays idle
 * while it draws. */
#include "sections.pml"

#define IDLE 255

byte ticket[N] = IDLE;

active [N] proctype process() {
    byte j, seen, mine;
again:
    remainder();
#ifndef FAULT
    atomic { first_access(); ticket[me] = 0 };
#else
    first_access();
#endif
    j = FIRST_OTHER;
    do
    :: j >= N -> break
    :: else ->
        seen = ticket[j];
        d_step {
            if
            :: seen != IDLE && seen > mine -> mine = seen
            :: else
            fi;
            seen = 0;
            j = OTHER_AFTER(j)
        }
    od;
    mine++;
    atomic { ticket[me] = mine; last_access() };
    j = FIRST_OTHER;
    do
    :: j >= N -> break
    :: else -> wait_until(ticket[j] > mine || (ticket[j] == mine && j > me)); j = OTHER_AFTER(j)
    od;
    atomic { j = 0; mine = 0 };
    critical_section();
    ticket[me] = IDLE;
    leaves();
    goto again
}
