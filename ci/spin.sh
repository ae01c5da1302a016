#!/usr/bin/env bash
# Asks Spin about the models beside ci/spin/expected.txt, and compares its verdicts with that file.
# Takes some minutes; with names of models as arguments, it asks about these only. Needs gcc and
# Debian's package `spin`, which it installs if it may.
#
# Exclusion is an assertion. `never-stuck` means that there is no invalid end state. Freedom from
# deadlock is an LTL formula, and freedom from starvation is one for each process in turn, under
# weak fairness. Nothing is reduced: partial order reduction together with fairness is not worth the
# doubt at these sizes.
set -euo pipefail
cd "$(dirname "$0")/spin"

if ! command -v spin > /dev/null; then
    echo "spin is missing; installing it: apt-get install -y spin" >&2
    apt-get install -y spin >&2
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Builds a verifier of a model and runs it. Arguments: the model, options of the search, options of
# the compiler, options of the model.
verify() {
    local file=$1 search=$2 compile=$3
    shift 3
    (
        cp -- *.pml "$work"
        cd "$work"
        rm -f pan pan.c pan.out # of the last run: a model with a mistake must not get its answer
        touch pan.out
        spin "$@" -a "$file" > spin.out 2>&1
        # shellcheck disable=SC2086
        gcc -O2 -w -DNOREDUCE $compile -o pan pan.c
        # shellcheck disable=SC2086
        ./pan -m1000000 $search > pan.out 2>&1 || true
    )
}

# Prints the verdict of the last run: `fails` only if it found the fault that was asked for.
found() {
    local fault=$1 out=$work/pan.out
    if grep -q 'max search depth too small\|out of memory\|aborted\|recompile' "$out"; then
        echo undecided
    elif grep -q 'errors: 0$' "$out"; then
        echo holds
    elif grep -q "$fault" "$out"; then
        echo fails
    else
        echo undecided
    fi
}

states() { sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' "$work/pan.out" | head -n 1; }

ask() {
    local file=$1 property=$2 n=$3 answer process
    shift 3
    case $property in
    *-exclusion)
        verify "$file" -E -DSAFETY "$@"
        found 'assertion violated'
        ;;
    never-stuck)
        verify "$file" -A -DSAFETY "$@" -DDEADLOCK
        found 'invalid end state'
        ;;
    deadlock-free)
        verify "$file" "-a -f -A" -DNFAIR=3 "$@" -DDEADLOCK_FREE
        found 'acceptance cycle'
        ;;
    first-come-first-served)
        verify "$file" -E -DSAFETY "$@" -DFIRST_COME
        found 'assertion violated'
        ;;
    starvation-free)
        answer=holds
        for ((process = 0; process < n; process++)); do
            verify "$file" "-a -f -A" -DNFAIR=3 "$@" -DSTARVATION=$process
            answer=$(found 'acceptance cycle')
            [ "$answer" = holds ] || break
        done
        echo "$answer"
        ;;
    *) echo undecided ;;
    esac
}

differences=0
printf '%-30s %-3s %-3s %-23s %-10s %-9s %9s\n' model n k property Spin expected states
while read -r model n k property expected; do
    [ $# = 0 ] || [[ " $* " == *" $model "* ]] || continue
    given=(-DN="$n" -DK="$k")
    case $model in
    peterson-turn-first) file=peterson.pml given+=(-DTURN_FIRST) ;;
    attempt-?) file=attempts.pml given+=(-DATTEMPT="${model#attempt-}") ;;
    doran-thomas) file=dekker.pml given+=(-DDORAN_THOMAS) ;;
    dekker-rw-safe) file=dekker.pml given+=(-DRW_SAFE) ;;
    de-bruijn) file=knuth.pml given+=(-DDE_BRUIJN) ;;
    eisenberg-mcguire) file=knuth.pml given+=(-DEISENBERG_MCGUIRE) ;;
    burns-lynch) file=burns.pml ;;
    burns) file=burns.pml given+=(-DSYMMETRIC) ;;
    attiya-welch-loop) file=attiya-welch.pml given+=(-DLOOP) ;;
    szymanski-three-bits-shut) file=szymanski-three-bits.pml given+=(-DSHUT_FIRST) ;;
    mutant:am-chain-swaps-6-and-7) file=am-chain.pml given+=(-DSEVEN_BEFORE_SIX) ;;
    *) file=${model#mutant:}.pml ;;
    esac
    case $model in
    mutant:am-chain*) ;;
    mutant:*) given+=(-DFAULT) ;;
    esac
    case ${model#mutant:} in
    bakery | hehner-shyamasundar | black-white-bakery) given+=(-DPASSAGES=2) ;; # their numbers grow
    peterson-tree) file=tournament.pml ;;
    kessels-tree) file=tournament.pml given+=(-DKESSELS) ;;
    ya-tree) file=tournament.pml given+=(-DYANG_ANDERSON) ;;
    szymanski-flag-bits-door) file=szymanski-flag-bits.pml given+=(-DDOOR_OUT_FIRST) ;;
    esac
    answer=$(ask "$file" "$property" "$n" "${given[@]}")
    note=
    if [ "$answer" != "$expected" ]; then
        note=' DIFFERS'
        differences=$((differences + 1))
    fi
    printf '%-30s %-3s %-3s %-23s %-10s %-9s %9s%s\n' "$model" "$n" "$k" "$property" "$answer" "$expected" "$(states)" "$note"
done < <(grep -v '^#' expected.txt)

[ "$differences" = 0 ] || { echo "$differences verdicts differ" >&2; exit 1; }
