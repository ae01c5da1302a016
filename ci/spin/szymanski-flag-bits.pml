/* Szymanski 1988, the flag as three bits, in the reading of the mCRL2 examples. With DOOR_OUT_FIRST, the exit lowers `door_out` first, and otherwise
 * last. With FAULT a process that leaves does not wait for those with larger names. */
#include "sections.pml"

bool intent[N], door_in[N], door_out[N];

active [N] proctype process() {
    byte j;
again:
    remainder();
    intent[me] = true;
    j = FIRST_OTHER;
    do
    :: j >= N -> break
    :: else ->
        do
        :: !intent[j] -> break
        :: else ->
            if
            :: !door_in[j] -> break
            :: else
            fi
        od;
        j = OTHER_AFTER(j)
    od;
    door_in[me] = true;
    j = FIRST_OTHER;
    do
    :: j >= N -> goto through
    :: else ->
        if
        :: intent[j] ->
            if
            :: !door_in[j] -> break
            :: else
            fi
        :: else
        fi;
        j = OTHER_AFTER(j)
    od;
    intent[me] = false;
look:
    j = FIRST_OTHER;
    do
    :: j >= N -> goto look
    :: else ->
        if
        :: door_out[j] -> break
        :: else -> j = OTHER_AFTER(j)
        fi
    od;
    intent[me] = true;
through:
    door_out[me] = true;
    j = 0;
    do
    :: j == me -> break
    :: else -> wait_until(!door_in[j]); j++
    od;
    j = 0;
    critical_section();
#ifndef FAULT
    j = me + 1;
    do
    :: j == N -> break
    :: else ->
        do
        :: !door_in[j] -> break
        :: else ->
            if
            :: door_out[j] -> break
            :: else
            fi
        od;
        j++
    od;
    j = 0;
#endif
#ifdef DOOR_OUT_FIRST
    door_out[me] = false;
#endif
    intent[me] = false;
    door_in[me] = false;
#ifndef DOOR_OUT_FIRST
    door_out[me] = false;
#endif
    leaves();
    goto again
}
