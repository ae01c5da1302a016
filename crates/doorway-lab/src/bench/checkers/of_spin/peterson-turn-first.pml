/* Peterson 1981 with its first two lines swapped. */
#include "frame.pml"

bool flag[2];
byte last;

active [N] proctype process() {
end:
    last = me;                                                          /* 2 */
    flag[me] = true;                                                    /* 1 */
    do
    :: d_step { !flag[1 - me] -> enters() }; break                      /* 31 */
    :: flag[1 - me];                                                    /* 31 */
        if
        :: d_step { last != me -> enters() }; break                     /* 32 */
        :: last == me                                                   /* 32 */
        fi
    od;
    atomic { leaves(); flag[me] = false };                              /* 4 */
    goto end
}
