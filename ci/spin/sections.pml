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
 *   FIRST_COME       asks whether a process gets inside before all processes that had left their doorways before it began; the question about
 *                    exclusion is then not asked
 *   PASSAGES         a process makes at most this many passages and stays in its remainder from then on: where numbers grow
 *   FAULT            the model has a fault, and some answer changes
 */

mtype = { REMAINDER, ENTRY, INSIDE, EXIT };
mtype section[N] = REMAINDER;
byte inside;

#define me _pid

#ifdef PASSAGES
byte made[N];
inline begins_passage() { atomic { made[me] < PASSAGES -> made[me]++; section[me] = ENTRY } }
#else
inline begins_passage() { section[me] = ENTRY }
#endif

#ifdef DEADLOCK
#define wait_until(condition) (condition)
inline remainder() {
    if
    :: begins_passage()
    :: true -> end_of_passages: false
    fi
}
#else
/* A turn that fails is a step, as it is in our machine: fairness is about processes that keep looking. */
#define wait_until(condition) do :: condition -> break :: else od
inline remainder() {
    do
    :: section[me] = REMAINDER
    :: begins_passage(); break
    od
}
#endif

/* The first access of a doorway, and its last one. */
#ifdef FIRST_COME
byte in_line;    /* the processes between their doorways and the critical section, one bit for each */
byte earlier[N]; /* those of them that had left their doorways before this one began */
#define is_inside(i) earlier[i] = earlier[i] & ~(1 << me)
inline first_access() { earlier[me] = in_line }
inline last_access() { in_line = in_line | (1 << me) }
inline gets_in() {
    in_line = in_line & ~(1 << me);
    is_inside(0);
    is_inside(1);
#if N > 2
    is_inside(2);
#endif
    assert(earlier[me] == 0)
}
#else
inline first_access() { skip }
inline last_access() { skip }
inline gets_in() { assert(inside <= K) }
#endif

inline critical_section() {
    atomic { section[me] = INSIDE; inside++; gets_in() };
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
