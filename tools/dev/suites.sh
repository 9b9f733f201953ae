# shellcheck shell=bash
# The test suites and how their results are added up. Sourced by ./dev; needs $root and $python.
#
# A suite is a function suite_NAME that prints what a person wants to see and calls `count PASSED FAILED SKIPPED FLAKY`
# once for each group of checks it made; the flaky ones are among the passed. A suite that ends without having counted
# anything has failed.
: "${root:?}" "${python:?}"

results=$root/build/results # of the suite at hand, once one runs
passed=0 failed=0 skipped=0 flaky=0
whole_program_preset=dev  # which build the end-to-end and fault tests drive
fuzz_budget=40            # seconds that the fuzzers take in ./dev test, two at a time

# count PASSED FAILED [SKIPPED [FLAKY]]
count() { echo "$1 $2 ${3:-0} ${4:-0}" >>"$results/counts"; }

# check WHAT COMMAND... : one check, counted; its output is shown when it fails.
check() {
  local what=$1 log=$results/check.log
  shift
  if "$@" >"$log" 2>&1; then
    echo "  ok    $what"
    count 1 0
  else
    tail -n 80 "$log"
    echo "  FAIL  $what"
    count 0 1
  fi
}

# run_suite NAME [ARGS...] : runs one suite and adds its counts to the totals.
run_suite() {
  local name=$1 started=$SECONDS p=0 f=0 s=0 y=0 a b c d results=$root/build/results/$1
  shift
  echo "== $name"
  rm -rf "$results"
  mkdir -p "$results"
  # A subshell: a suite may change directory and settings. Its status is judged after its counts.
  local status=0
  ("suite_$name" "$@") || status=$?
  if [[ -e $results/counts ]]; then
    while read -r a b c d; do ((p += a, f += b, s += c, y += d)) || true; done <"$results/counts"
  fi
  if ((status != 0 && f == 0)) || ((p + f + s == 0)); then
    echo "  FAIL  $name broke off (status $status)"
    ((f += 1))
  fi
  # Where nobody looks at the output, what was not tested must not pass for tested.
  if [[ ${CI:-} == true ]] && ((s > 0)); then
    echo "  FAIL  $s skipped: in continuous integration a skip is a failure"
    ((f += s, s = 0)) || true
  fi
  echo "-- $name: $p passed, $f failed, $s skipped ($((SECONDS - started)) s)"
  echo
  ((passed += p, failed += f, skipped += s, flaky += y)) || true
}

report() {
  ((flaky == 0)) || echo "$flaky of the passed failed at first: FLAKY above"
  if ((skipped > 0)); then
    echo "$passed passed, $failed failed, $skipped skipped"
  else
    echo "$passed passed, $failed failed"
  fi
  ((failed == 0))
}

# run_suites NAME [ARGS...] : one suite alone, as in `./dev unit`.
run_suites() {
  run_suite "$@"
  report
}

# whole_program_suites FILE : runs them and writes their counts. For a process of its own.
whole_program_suites() {
  passed=0 failed=0 skipped=0 flaky=0
  run_suite e2e
  run_suite fault
  echo "$passed $failed $skipped $flaky" >"$1"
}

# Each part of the product is built as few times as possible: the unit tests with the address and undefined-behaviour
# sanitizers, the whole-program tests with the very program that people run. These wait more than they compute, so that
# the other suites, which mostly compile, run beside them.
test_everything() {
  need_packages build test || exit 3
  whole_program_preset=release
  local beside=$root/build/beside whole_program_tests status=0
  rm -rf "$beside"
  mkdir -p "$beside"
  compile release || exit 1
  whole_program_suites "$beside/counts" >"$beside/log" 2>&1 &
  whole_program_tests=$!
  # shellcheck disable=SC2064  # this very process
  trap "kill $whole_program_tests 2>/dev/null || true" EXIT
  run_suite asan
  run_suite simgrid
  run_suite lint ${CI:+--all}
  run_suite tsan
  run_suite fuzz $((2 * fuzz_budget / $(fuzz_targets | wc -l)))
  run_suite package
  wait "$whole_program_tests" || status=$?
  trap - EXIT
  cat "$beside/log"
  local p f s y
  if ((status == 0)) && read -r p f s y <"$beside/counts"; then
    ((passed += p, failed += f, skipped += s, flaky += y)) || true
  else
    echo "  FAIL  the whole-program tests broke off (status $status)"
    ((failed += 1))
  fi
  report
}

# ctest_suite PRESET [CTEST-ARGS...]
ctest_suite() {
  local preset=$1 xml=$results/ctest.xml log=$results/ctest.log again=()
  local command=(ctest --test-dir "$root/build/$1" --output-on-failure --no-tests=error)
  shift
  if ! "${command[@]}" --parallel 2 --progress --output-junit "$xml" "$@" >"$log" 2>&1 && few_failed "$preset"; then
    again=("$results/again.xml")
    "${command[@]}" --rerun-failed --output-junit "${again[0]}" >"$results/again.log" 2>&1 || true
  fi
  # ctest prints a line for each of a thousand tests; people want the failures.
  "$python" "$root/tools/dev/junit_counts.py" "$xml" "$log" "${again[@]}" >>"$results/counts"
}

# few_failed PRESET : so few that they get a second try, alone. Tests run beside compilers on few cores, and some wait
# for processes: one that passes then is named as FLAKY, to be mended, and does not stop a change that it has nothing to
# do with. tests/run_all does the same.
few_failed() {
  local list=$root/build/$1/Testing/Temporary/LastTestsFailed.log
  [[ -e $list ]] && (($(wc -l <"$list") <= 3))
}

not_unit='^simgrid\.'  # a suite of its own

suite_unit() {
  compile dev || return
  ctest_suite dev -E "$not_unit" ${1:+-R "$1"}
}

suite_asan() {
  compile asan || return
  ASAN_OPTIONS=detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1 \
    ctest_suite asan -E "$not_unit" ${1:+-R "$1"}
}

# The simulator's kernel against SimGrid; in the build that `./dev test` has anyway.
suite_simgrid() {
  compile asan test_simgrid || return
  ctest_suite asan -R '^simgrid\.'
}

# Only what starts threads is worth the slow build: base, and test_threads (cmake/GantryTargets.cmake).
suite_tsan() {
  compile tsan test_base test_threads || return
  ctest_suite tsan -R "^(${1:-base|threads})\."
}

suite_e2e() { whole_program e2e "$@"; }
suite_fault() { whole_program fault "$@"; }

whole_program() {
  compile "$whole_program_preset" || return
  GANTRY_BIN=${GANTRY_BIN:-$root/build/$whole_program_preset/bin/gantry} \
    "$python" "$root/tests/run_all" --counts "$results/counts" "$@"
}

# One for each tests/fuzz/fuzz_*.cpp.
fuzz_targets() { (cd "$root/tests/fuzz" && printf '%s\n' fuzz_*.cpp | sed 's/\.cpp$//'); }

# suite_fuzz [SECONDS] [TARGET...]
suite_fuzz() {
  local seconds=${1:-60} target
  (($# == 0)) || shift
  local targets=("$@")
  (($#)) || mapfile -t targets < <(fuzz_targets)
  compile fuzz "${targets[@]}" || return
  # Two at a time, as there are two cores at least; then what became of each.
  for target in "${targets[@]}"; do
    while (($(jobs -pr | wc -l) >= 2)); do wait -n || true; done
    fuzz_one "$target" "$seconds" >"$results/$target.log" 2>&1 &
  done
  wait
  for target in "${targets[@]}"; do check "$target for $seconds s" fuzz_outcome "$target"; done
}

# fuzz_one TARGET SECONDS : new finds go into build/; tests/fuzz/corpus/NAME holds the seeds that are kept.
fuzz_one() {
  local corpus=$root/build/fuzz/corpus/$1 status=0
  mkdir -p "$corpus"
  "$root/build/fuzz/bin/$1" -max_total_time="$2" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$root/build/fuzz/" "$corpus" "$root/tests/fuzz/corpus/$1" || status=$?
  echo "$status" >"$results/$1.status"
}

fuzz_outcome() {
  cat "$results/$1.log"
  [[ $(<"$results/$1.status") == 0 ]]
}
