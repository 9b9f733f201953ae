# shellcheck shell=bash
# Configures and builds a CMake preset. Sourced by ./gantry and ./dev, after packages.sh; needs $root.
: "${root:?}"

# Objects are shared between clones and build folders: names inside the tree are hashed relative to it.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$root} CCACHE_NOHASHDIR=1

# One job a core, but a gigabyte of memory each: compiling with templates like ours takes about that.
compile_jobs() {
  local gigabytes cores
  cores=$(nproc)
  gigabytes=$(awk '/^MemAvailable:/ { print int($2 / 1048576) }' /proc/meminfo)
  ((gigabytes >= 1)) || gigabytes=1
  echo $((cores < gigabytes ? cores : gigabytes))
}

# configure PRESET
configure() {
  local preset=$1 cache=$root/build/$1/CMakeCache.txt fresh=()
  # A build folder that was moved or copied along with its clone still points at the old place.
  if [[ -e $cache ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache"; then
    fresh=(--fresh)
  fi
  (cd "$root" && cmake --preset "$preset" "${fresh[@]}")
}

# compile PRESET [TARGET...] : quiet unless something is wrong; progress on a terminal's stderr.
compile() {
  local preset=$1 log=$root/build/$1.log
  shift
  mkdir -p "$root/build"
  if ! configure "$preset" >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    say "configuring $preset failed; the log is $log"
    return 1
  fi
  local command=(cmake --build "$root/build/$preset" --parallel "$(compile_jobs)")
  (($# == 0)) || command+=(--target "$@")
  # ninja shows one moving line on a terminal; elsewhere only the log gets the hundred lines.
  if [[ -t 2 ]]; then
    "${command[@]}" >&2
  elif ! "${command[@]}" >>"$log" 2>&1; then
    grep -vE '^\[[0-9]+/[0-9]+\] (Building|Linking)' "$log" | tail -n 60 >&2
    say "building $preset failed; the log is $log"
    return 1
  fi
}
