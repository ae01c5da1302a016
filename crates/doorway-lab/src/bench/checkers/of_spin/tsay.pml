/* Tsay 1998, two processes. */
#include "frame.pml"

bool flag[2];
byte last;

active [N] proctype process() {
end:
    do
    :: flag[me] = true;                                                 /* 1 */
        last = me;                                                      /* 2 */
        if
        :: d_step { !flag[1 - me] -> enters() }                         /* 31 */
        :: flag[1 - me] -> d_step { last != me -> enters() }            /* 31, 32 */
        fi;
        d_step { leaves(); flag[me] = false };                          /* 4 */
        last = me                                                       /* 5 */
    od
}
