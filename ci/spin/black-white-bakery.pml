/* Taubenfeld 2004, the Black-White Bakery. A ticket is one register: twice its number, and one more if it is black. With FAULT a process does not
 * wait for a ticket of the other colour. */
#include "sections.pml"

bool colour; /* that of new tickets */
bool choosing[N];
byte ticket[N];

#define number(of) ((of) >> 1)
#define black(of) ((of) & 1)

active [N] proctype process() {
    byte j, seen, mine;
    bool shown;
again:
    remainder();
    atomic { first_access(); choosing[me] = true };
    shown = colour;
    j = FIRST_OTHER;
    do
    :: j >= N -> break
    :: else ->
        seen = ticket[j];
        d_step {
            if
            :: black(seen) == shown && number(seen) > number(mine) -> mine = seen
            :: else
            fi;
            seen = 0;
            j = OTHER_AFTER(j)
        }
    od;
    atomic { mine = 2 * (number(mine) + 1) + shown; shown = 0 };
    ticket[me] = mine;
    atomic { choosing[me] = false; last_access() };
    j = FIRST_OTHER;
    do
    :: j >= N -> break
    :: else ->
        wait_until(!choosing[j]);
        seen = ticket[j];
        if
        :: black(seen) == black(mine) ->
            seen = 0;
            wait_until(number(ticket[j]) == 0 || black(ticket[j]) != black(mine) || number(ticket[j]) > number(mine) || (ticket[j] == mine && j > me))
        :: else ->
            seen = 0;
#ifndef FAULT
            do
            :: number(ticket[j]) == 0 || black(ticket[j]) == black(mine) -> break
            :: else ->
                if
                :: colour != black(mine) -> break
                :: else
                fi
            od
#endif
        fi;
        j = OTHER_AFTER(j)
    od;
    j = 0;
    critical_section();
    colour = 1 - black(mine);
    ticket[me] = black(mine);
    mine = 0;
    leaves();
    goto again
}
