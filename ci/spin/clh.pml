/* Craig 1993, and Magnusson, Landin and Hagersten 1994: the queue lock by swap. A node says whether the process that brought it still wants. With
 * FAULT a process swaps before it says so. */
#include "sections.pml"

bool waiting[N + 1];
byte tail = N;
#if N == 2
byte mine[N] = { 0, 1 };
#else
byte mine[N] = { 0, 1, 2 };
#endif

active [N] proctype process() {
    byte before;
again:
    remainder();
#ifdef FAULT
    atomic { first_access(); before = tail; tail = mine[me]; last_access() };
    waiting[mine[me]] = true;
#else
    atomic { first_access(); waiting[mine[me]] = true };
    atomic { before = tail; tail = mine[me]; last_access() };
#endif
    wait_until(!waiting[before]);
    critical_section();
    waiting[mine[me]] = false;
    mine[me] = before;
    before = 0;
    leaves();
    goto again
}
