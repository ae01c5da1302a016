/* Peterson's filter, 1981, on regular registers; `last` has several writers.
 *
 * A write has a beginning and an end, and takes its place among the writes to its variable at a moment in between. A read is one
 * moment: it returns the value of the write that took its place last, or of any write that is in progress. */
#include "sections.pml"

byte level[N];
byte next_level[N];                                     /* while it is being written */
bool writes_level[N];
byte last[N];
byte writes_last[N];                                    /* to which of them it is writing; 0: to none */

/* Others than the reader. */
#define someone_writes(l) (writes_last[(me + 1) % N] == l || writes_last[(me + 2) % N] == l)

inline write_level(x) {
    atomic { next_level[me] = x; writes_level[me] = true };
    atomic { level[me] = x; next_level[me] = 0; writes_level[me] = false }
}

inline write_last(l) {
    writes_last[me] = l;
    last[l] = me;
    writes_last[me] = 0
}

active [N] proctype process() {
    byte l, j;
again:
    remainder();
    l = 1;
next_level_up:
    write_level(l);                                     /* 2 */
    write_last(l);                                      /* 3 */
look:
    if                                                  /* 4 */
    :: last[l] != me -> goto passes
    :: someone_writes(l) -> goto passes
    :: last[l] == me -> j = (me + 1) % N
    fi;
    do
    :: level[j] < l || (writes_level[j] && next_level[j] < l) ->
        if
        :: j == (me + N - 1) % N -> goto passes
        :: else -> j = (j + 1) % N
        fi
    :: level[j] >= l || (writes_level[j] && next_level[j] >= l) -> goto look
    od;
passes:
    j = 0;
    if
    :: l < N - 1 -> l = l + 1; goto next_level_up
    :: else -> l = 0
    fi;
    critical_section();
    write_level(0);                                     /* 5 */
    leaves();
    goto again
}
