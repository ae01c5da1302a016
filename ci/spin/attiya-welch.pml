/* Attiya and Welch's algorithm, the form of the book. With LOOP, the form with a loop. */
#include "sections.pml"

#define rival (1 - me)

bool flag[2];
byte turn;

active [N] proctype process() {
    bool up;
again:
    remainder();
one:
    flag[me] = false;                                   /* 1 */
    do
    :: up = flag[rival];                                /* 21 */
        if
        :: !(up && turn == me) -> break                 /* 22 */
        :: else
        fi
    od;
    up = false;
    flag[me] = true;                                    /* 3 */
#ifdef LOOP
    if
    :: turn != me -> up = flag[rival]; up = false       /* 41, 42 */
    :: else ->
        if
        :: flag[rival] -> goto one                      /* 42 */
        :: else
        fi
    fi;
    if
    :: turn != me -> wait_until(!flag[rival])           /* 5, 6 */
    :: else
    fi;
#else
    if
    :: turn == me ->                                    /* 4 */
        if
        :: flag[rival] -> goto one                      /* 5 */
        :: else
        fi
    :: else -> wait_until(!flag[rival])                 /* 6 */
    fi;
#endif
    critical_section();
    turn = me;                                          /* 7 */
    flag[me] = false;                                   /* 8 */
    leaves();
    goto again
}
