/* What all models share: who is in which section of its passage, and the questions.
 *
 * Processes make passages for ever and never terminate: Spin 6.5.2 can miss a cycle under weak fairness when one does. A process may stay in its
 * remainder as long as it likes, and nowhere else.
 *
 * Given on the command line:
 *   N, K             at most K of N processes may be inside
 *   DEADLOCK         asks for states in which nobody can go on: a wait blocks instead of turning round, and a process may stop for good in its
 *                    remainder, where stopping is no fault
 *   STARVATION=p     asks whether process p, once in its entry section, gets inside
 *   DEADLOCK_FREE    asks whether, as long as a process is in its entry section, some process gets inside again and again
 */

mtype = { REMAINDER, ENTRY, INSIDE, EXIT };
mtype section[N] = REMAINDER;
byte inside;

#define me _pid

#ifdef DEADLOCK
#define wait_until(condition) (condition)
inline remainder() {
    if
    :: section[me] = ENTRY
    :: true -> end_of_passages: false
    fi
}
#else
/* A turn that fails is a step, as it is in our machine: fairness is about processes that keep looking. */
#define wait_until(condition) do :: condition -> break :: else od
inline remainder() {
    do
    :: section[me] = REMAINDER
    :: section[me] = ENTRY; break
    od
}
#endif

inline critical_section() {
    atomic { section[me] = INSIDE; inside++; assert(inside <= K) };
    atomic { section[me] = EXIT; inside-- }
}

#define leaves() section[me] = REMAINDER

/* All processes but this one, in the order of names. */
#define FIRST_OTHER (me == 0 -> 1 : 0)
#define OTHER_AFTER(j) (j + 1 == me -> j + 2 : j + 1)

#ifdef DEADLOCK_FREE
#if N == 2
#define someone_tries (section[0] == ENTRY || section[1] == ENTRY)
#else
#define someone_tries (section[0] == ENTRY || section[1] == ENTRY || section[2] == ENTRY)
#endif
ltl deadlock_free { [] (someone_tries -> <> (inside > 0)) }
#endif

#ifdef STARVATION
ltl starvation_free { [] ((section[STARVATION] == ENTRY) -> <> (section[STARVATION] == INSIDE)) }
#endif
