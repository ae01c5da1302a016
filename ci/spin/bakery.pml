/* Lamport 1974, the Bakery. A process reads the numbers of the others one after the other, and none of its own. With FAULT it does not wait for
 * those that choose. */
#include "sections.pml"

bool choosing[N];
byte number[N];

active [N] proctype process() {
    byte j, seen, mine;
again:
    remainder();
    atomic { first_access(); choosing[me] = true };
    j = FIRST_OTHER;
    do
    :: j >= N -> break
    :: else ->
        seen = number[j];
        d_step {
            if
            :: seen > mine -> mine = seen
            :: else
            fi;
            seen = 0;
            j = OTHER_AFTER(j)
        }
    od;
    mine++;
    number[me] = mine;
    atomic { choosing[me] = false; last_access() };
    j = FIRST_OTHER;
    do
    :: j >= N -> break
    :: else ->
#ifndef FAULT
        wait_until(!choosing[j]);
#endif
        wait_until(number[j] == 0 || number[j] > mine || (number[j] == mine && j > me));
        j = OTHER_AFTER(j)
    od;
    atomic { j = 0; mine = 0 };
    critical_section();
    number[me] = 0;
    leaves();
    goto again
}
