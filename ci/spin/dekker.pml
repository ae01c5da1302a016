/* Dekker, as Dijkstra tells it (EWD 123). With DORAN_THOMAS, Doran and Thomas 1980; with RW_SAFE, Buhr, Dice and Hesselink 2016. */
#include "sections.pml"

#define rival (1 - me)

bool flag[2];
byte turn;

active [N] proctype process() {
again:
    remainder();
    flag[me] = true;                                    /* 1 */
    do
    :: !flag[rival] -> break                            /* 2 */
    :: else ->
        if
        :: turn != me ->                                /* 3 */
            flag[me] = false;                           /* 4 */
#ifdef RW_SAFE
            do
            :: turn == me -> break                      /* 51 */
            :: else ->
                if
                :: !flag[rival] -> break                /* 52 */
                :: else
                fi
            od;
#else
            wait_until(turn == me);                     /* 5 */
#endif
            flag[me] = true                             /* 6 */
        :: else
        fi;
#ifdef DORAN_THOMAS
        wait_until(!flag[rival]);                       /* 7 */
        break
#endif
    od;
    critical_section();
#ifdef RW_SAFE
    if
    :: turn == me -> turn = rival                       /* 71, 7 */
    :: else
    fi;
#else
    turn = rival;                                       /* 7 */
#endif
    flag[me] = false;                                   /* 8 */
    leaves();
    goto again
}
