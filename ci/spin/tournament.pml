/* A tournament of two-sided locks: of Peterson 1981, Kessels 1982 (KESSELS), or Yang and Anderson 1993 (YANG_ANDERSON). Of three processes, the
 * first two meet at match 1, and the winner meets the third at match 0. With two processes there is only match 0. A process leaves the matches in
 * the opposite order, from match 0 down. With FAULT it leaves match 1 first; with two processes, the lock has a fault. */
#include "sections.pml"

#define other (1 - side)

#ifdef KESSELS
/* The two bits of a match say which side came last: the left one if they are equal. */
bool wants[2 * 2], sign[2 * 2];
#define names_me(own, its) (side == 0 -> own == its : own != its)
inline enter() {
#if defined(FAULT) && N == 2
    mine = (side == 0 -> sign[2 * match + other] : !sign[2 * match + other]);
    sign[2 * match + side] = mine;
    wants[2 * match + side] = true;
#else
    wants[2 * match + side] = true;
    mine = (side == 0 -> sign[2 * match + other] : !sign[2 * match + other]);
    sign[2 * match + side] = mine;
#endif
    do
    :: !wants[2 * match + other] -> break
    :: else ->
        if
        :: !names_me(mine, sign[2 * match + other]) -> break
        :: else
        fi
    od;
    mine = false
}
inline leave() { wants[2 * match + side] = false }
#else
#ifdef YANG_ANDERSON
/* Who competes at a side is one more than its name, or 0. */
byte competes[2 * 2], last[2], told[2 * N];
#define spot(i) (match * N + i)
inline enter() {
    competes[2 * match + side] = me + 1;
    last[match] = me + 1;
    told[spot(me)] = 0;
    foe = competes[2 * match + other];
    if
    :: foe == 0
    :: else ->
        if
        :: last[match] == me + 1 ->
            if
            :: told[spot(foe - 1)] == 0 ->
#ifndef FAULT
                told[spot(foe - 1)] = 1
#else
                skip
#endif
            :: else
            fi;
            wait_until(told[spot(me)] != 0);
            if
            :: last[match] == me + 1 -> wait_until(told[spot(me)] > 1)
            :: else
            fi
        :: else
        fi
    fi;
    foe = 0
}
inline leave() {
    competes[2 * match + side] = 0;
    foe = last[match];
    if
    :: foe != me + 1 -> told[spot(foe - 1)] = 2
    :: else
    fi;
    foe = 0
}
#else
bool wants[2 * 2];
bool last[2]; /* the side that came last */
inline enter() {
#if defined(FAULT) && N == 2
    last[match] = side;
    wants[2 * match + side] = true;
#else
    wants[2 * match + side] = true;
    last[match] = side;
#endif
    do
    :: !wants[2 * match + other] -> break
    :: else ->
        if
        :: last[match] != side -> break
        :: else
        fi
    od
}
inline leave() { wants[2 * match + side] = false }
#endif
#endif

active [N] proctype process() {
    byte match, side;
#ifdef KESSELS
    bool mine;
#endif
#ifdef YANG_ANDERSON
    byte foe;
#endif
again:
    remainder();
#if N == 2
    side = me;
    enter();
    critical_section();
    leave();
#else
    if
    :: me < 2 -> atomic { match = 1; side = me }; enter(); atomic { match = 0; side = 0 }
    :: else -> side = 1
    fi;
    enter();
    critical_section();
#ifdef FAULT
    if
    :: me < 2 -> atomic { match = 1; side = me }; leave(); atomic { match = 0; side = 0 }
    :: else
    fi;
    leave();
#else
    leave();
    if
    :: me < 2 -> atomic { match = 1; side = me }; leave(); atomic { match = 0; side = 0 }
    :: else
    fi;
#endif
#endif
    leaves();
    goto again
}
