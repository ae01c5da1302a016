/* Peterson 1981, two processes. One statement is one access; the wait reads two variables, one after the other.
 * With TURN_FIRST, a process gives way before it says that it competes. */
#include "sections.pml"

#define rival (1 - me)

bool Q[2];
byte turn;

active [N] proctype process() {
again:
    remainder();
#ifdef TURN_FIRST
    turn = me;                                          /* 2 */
    Q[me] = true;                                       /* 1 */
#else
    Q[me] = true;                                       /* 1 */
    turn = me;                                          /* 2 */
#endif
#ifdef DEADLOCK
    (!Q[rival] || turn != me);                          /* 3: whoever is stuck here is stuck whichever it reads first */
#else
    do
    :: !Q[rival] -> break                               /* 3 */
    :: else ->
        if
        :: turn != me -> break                          /* 3 */
        :: else
        fi
    od;
#endif
    critical_section();
    Q[me] = false;                                      /* 4 */
    leaves();
    goto again
}
