/* Lamport 1986, the three-bit algorithm. The competitors have `y` up. Around the circle of all names, the first competitor `f` is the smallest one
 * whose `z` differs from that of the competitor before it; the smallest of all is one if its `z` equals that of the largest. With FAULT a process
 * does not look at those after it. */
#include "sections.pml"

bool x[N], y[N], z[N];

#define NEXT(j) (j + 1 == N -> 0 : j + 1)

active [N] proctype process() {
    byte j, f;
    byte up;   /* the competitors, one bit for each */
    byte ones; /* those of them whose z is up */
    bool seen;
again:
    remainder();
    y[me] = true;
one:
    x[me] = true;
two:
    j = 0;
    do
    :: j == N -> break
    :: else ->
        if
        :: y[j] -> d_step { up = up | (1 << j); j++ }
        :: else -> j++
        fi
    od;
    j = 0;
    do
    :: j == N -> break
    :: else ->
        if
        :: (up & (1 << j)) != 0 ->
            if
            :: z[j] -> d_step { ones = ones | (1 << j); j++ }
            :: else -> j++
            fi
        :: else -> j++
        fi
    od;
    atomic {
        /* The largest competitor's bit, turned round: the smallest one begins a circle if it differs from that. */
        j = N;
        do
        :: j--;
            if
            :: (up & (1 << j)) != 0 -> break
            :: else
            fi
        od;
        seen = (ones & (1 << j)) == 0;
        f = 0;
        do
        :: (up & (1 << f)) != 0 && (((ones & (1 << f)) != 0) != seen) -> break
        :: else ->
            if
            :: (up & (1 << f)) != 0 -> seen = (ones & (1 << f)) != 0
            :: else
            fi;
            f++
        od;
        up = 0;
        ones = 0;
        seen = false;
        j = f
    };
    do
    :: j == me -> break
    :: else ->
        if
        :: y[j] ->
            atomic { f = 0; j = 0 };
            if
            :: x[me] -> x[me] = false
            :: else
            fi;
            goto two
        :: else -> j = NEXT(j)
        fi
    od;
    if
    :: !x[me] -> atomic { f = 0; j = 0 }; goto one
    :: else
    fi;
#ifndef FAULT
    j = NEXT(j);
    do
    :: j == f -> break
    :: else ->
        if
        :: x[j] -> atomic { f = 0; j = 0 }; goto two
        :: else -> j = NEXT(j)
        fi
    od;
#endif
    atomic { f = 0; j = 0 };
    critical_section();
    z[me] = !z[me];
    x[me] = false;
    y[me] = false;
    leaves();
    goto again
}
