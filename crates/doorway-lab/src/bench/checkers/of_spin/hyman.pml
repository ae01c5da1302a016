/* Hyman 1966. */
#include "frame.pml"

bool b[2];
byte k;

active [N] proctype process() {
end:
    b[me] = true;                                                       /* 1 */
    do
    :: d_step { k == me -> enters() }; break                            /* 2 */
    :: k != me -> !b[1 - me] -> k = me                                  /* 2, 3, 4 */
    od;
    atomic { leaves(); b[me] = false };                                 /* 5 */
    goto end
}
