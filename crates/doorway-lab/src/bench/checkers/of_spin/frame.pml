/* What the models beside this file share. On the command line: N, K: at most K of N processes may be inside. P: each makes P passages; without it,
 * passages for ever. MAY_STOP: a process may stop for good in its remainder, so that Spin sees when those who have begun are stuck.
 *
 * One step is one access: what a process does by itself afterwards is in the same d_step. So the states are those of our machine, one by one. */
#define me _pid
#ifdef P
#define may_begin done < P
#define ends done++
byte done[N];
#define done done[me]
#else
#define may_begin true
#define ends skip
#endif
/* An option of the loop that begins passages. The other one is never taken: Spin lets a loop with one option not lead to a d_step. */
#ifdef MAY_STOP
#define or_stops_if(condition) :: condition -> end_stopped: false
#else
#define or_stops_if(condition) :: false
#endif
byte inside;
inline enters() { inside++; assert(inside <= K) }
inline leaves() { inside-- }

/* All processes but this one, in the order of names; N after the last. */
#define FIRST_OTHER (me == 0 -> 1 : 0)
#define OTHER_AFTER(j) (j + 1 == me -> j + 2 : j + 1)
