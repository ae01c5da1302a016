/* The simplest lock there is. */
#include "sections.pml"

bool taken;

active [N] proctype process() {
again:
    remainder();
#ifdef DEADLOCK
    d_step { !taken -> taken = true };                  /* 1 */
#else
    do
    :: d_step { !taken -> taken = true } -> break       /* 1 */
    :: taken                                            /* 1, in vain */
    od;
#endif
    critical_section();
    taken = false;                                      /* 2 */
    leaves();
    goto again
}
