/* Hyman 1966. */
#include "sections.pml"

#define rival (1 - me)

bool b[2];
byte k;

active [N] proctype process() {
again:
    remainder();
    b[me] = true;                                       /* 1 */
    do
    :: k == me -> break                                 /* 2 */
    :: else ->
        wait_until(!b[rival]);                          /* 3 */
        k = me                                          /* 4 */
    od;
    critical_section();
    b[me] = false;                                      /* 5 */
    leaves();
    goto again
}
