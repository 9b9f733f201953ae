# shellcheck shell=bash
# ./dev lint. Sourced by ./dev after suites.sh; needs $root, $python and $results.
: "${root:?}" "${python:?}" "${results:?}"

# NUL-separated: every C++ file of ours.
sources() {
  find "$root"/{src,apps,tests,bench,examples} \( -name '*.cpp' -o -name '*.hpp' \) -print0 2>/dev/null | sort -z
}

# suite_lint [--all]
suite_lint() {
  check "clang-format" format_check
  check "layers: no include climbs out of its folder" layering_check
  check "file names are unique" unique_names_check
  check "private names are unique in their folder" "$python" "$root/tools/dev/private_names.py"
  check "shell scripts" shell_check
  # What follows wants the commands and the folders' views, not the objects.
  configure asan >"$results/configure.log" 2>&1 || return
  check "benchmarks compile" benchmarks_check
  check "clang-tidy" "$python" "$root/tools/dev/tidy.py" "$@"
  size_report
}

format_check() { sources | xargs -0 clang-format --dry-run -Werror; }

# The build makes upward includes fail (cmake/GantryTargets.cmake); a relative path would get around it. Nor is a source
# included.
layering_check() {
  ! grep -rnE '#[[:space:]]*include[[:space:]]*[<"](\.\.?/|/|[^">]*/\.\./|[^">]*\.cpp[">])' "$root"/src "$root"/apps \
    --include='*.cpp' --include='*.hpp'
}

unique_names_check() {
  local twice
  twice=$(sources | xargs -0 -n1 basename | sort | uniq -d)
  [[ -z $twice ]] || {
    echo "used more than once: $twice"
    return 1
  }
}

# Nothing else in continuous integration sees them.
benchmarks_check() {
  local view views=()
  for view in "$root"/build/asan/include/*; do views+=("-I$view"); done
  printf '%s\0' "$root"/bench/*.cpp | xargs -0 -n1 -P2 c++ -std=c++20 -fsyntax-only -Wall -Wextra -Werror "${views[@]}"
}

shell_check() {
  local scripts
  mapfile -t scripts < <(cd "$root" && grep -rlE '^#!.*\b(ba)?sh$|^# shellcheck shell=' gantry dev .ci tools tests \
    bench packaging examples 2>/dev/null)
  (cd "$root" && shellcheck --external-sources "${scripts[@]}")
}

# Not a check: long files are sometimes right. See the end of the list before adding to one. (`head` would end before `sort`
# has written all, which counts as a failure of the pipe.)
size_report() {
  echo "  longest files (look again at 400 lines, split by 600):"
  sources | xargs -0 wc -l | grep -v ' total$' | sort -rn | sed -n "s|$root/||; s/^/  /; 1,5p"
}
