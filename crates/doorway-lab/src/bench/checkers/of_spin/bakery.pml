/* Lamport's Bakery, 1974. While a process looks, i is the one it looks at; N after the last. */
#include "frame.pml"

bool doorway[N];
byte ticket[N];

active [N] proctype process() {
    byte i, mine;
end:
    do
    :: d_step { may_begin -> doorway[me] = true; i = FIRST_OTHER };     /* 3 */
        do
        :: d_step { i < N -> mine = (ticket[i] > mine -> ticket[i] : mine); i = OTHER_AFTER(i) }  /* 41 */
        :: d_step { i == N -> mine++; ticket[me] = mine; i = FIRST_OTHER }; break  /* 42 */
        od;
        doorway[me] = false;                                            /* 5 */
        do
        :: i < N && !doorway[i];                                        /* 7 */
            d_step {                                                    /* 8 */
                ticket[i] == 0 || ticket[i] > mine || (ticket[i] == mine && i >= me) ->
                i = OTHER_AFTER(i);
                if
                :: i == N -> mine = 0; enters()
                :: else
                fi
            }
        :: d_step { i == N -> leaves(); ticket[me] = 0; i = 0; ends }; break  /* 10 */
        od
    or_stops_if(true)
    od
}
