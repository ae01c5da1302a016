/* Our simple turnstile. lap[i]: how many of the tickets that are i modulo W were signalled; LAPS: the first K of them once, the others never. With
 * SPLIT, 3 is two steps; with BLIND, 5 is a write. */
#include "frame.pml"

#define signalled(t) (lap[(t) % W] > (t) / W)

byte next, served, lap[W] = LAPS;

inline signals() {
#ifdef BLIND
    lap[y % W] = y / W + 1
#else
    if
    :: lap[y % W] == y / W -> lap[y % W]++
    :: else
    fi
#endif
}

active [N] proctype process() {
    byte t, y;
end:
    do
    :: d_step { may_begin -> t = next; next++ };                        /* 1 */
        d_step { signalled(t) -> t = 0; enters() };                     /* 2 */
#ifdef SPLIT
        d_step { leaves(); y = served };                                /* 3, read */
        d_step { served = y + 1; t = y + K; y = t };                    /* 3, write */
#else
        d_step { leaves(); t = served + K; y = t; served++ };           /* 3 */
#endif
        do
        :: d_step { !signalled(y - 1) -> y-- }                          /* 4 */
        :: signalled(y - 1) -> break                                    /* 4 */
        od;
        do
        :: d_step { y < t -> signals(); y++ }                           /* 5 */
        :: d_step { y == t -> signals(); t = 0; y = 0; ends }; break    /* 5 */
        od
    or_stops_if(true)
    od
}
