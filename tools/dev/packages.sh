# shellcheck shell=bash
# Finds out which Debian packages are missing and installs them. Sourced by ./gantry and ./dev; needs $root.
# Everything it says goes to stderr.
: "${root:?}"

say() { printf '%s\n' "$*" >&2; }

# packages_of SECTION... : the names listed under these sections of packaging/debian-packages.txt.
packages_of() {
  local wanted=" $* " section='' line
  while read -r line; do
    case $line in
      '' | '#'*) ;;
      '['*']') section=${line:1:-1} ;;
      *) [[ $wanted != *" $section "* ]] || printf '%s\n' "$line" ;;
    esac
  done <"$root/packaging/debian-packages.txt"
}

# missing_packages SECTION... : those of them that are not installed.
missing_packages() {
  local names
  mapfile -t names < <(packages_of "$@")
  # dpkg-query fails for names it has never heard of; what it does not report as installed is missing.
  comm -23 <(printf '%s\n' "${names[@]}" | sort -u) \
    <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${names[@]}" 2>/dev/null |
      sed -n 's/^installed //p' | sort -u)
}

# need_packages SECTION... : installs what is missing, or says which command would.
need_packages() {
  local missing as_root=() log
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "gantry: this is not a Debian system, so nothing is installed for you. The Debian 12 names of what is needed:"
    say "  $(packages_of "$@" | tr '\n' ' ')"
    return 0 # The build says what is really missing.
  fi
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0

  say "gantry: missing packages: ${missing[*]}"
  if ((EUID != 0)); then
    as_root=(sudo)
    # Without a terminal sudo cannot ask for a password; -n makes it say so instead of waiting.
    [[ -t 0 && -t 2 ]] || as_root=(sudo -n)
    if ! command -v sudo >/dev/null || ! "${as_root[@]}" true; then
      say "gantry: installing them needs root. Run this once, as root, then try again:"
      say "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
      return 3
    fi
  fi
  say "gantry: installing them with apt-get${as_root[0]:+ through ${as_root[0]}} ..."
  log=$(mktemp "${TMPDIR:-/tmp}/gantry-apt.XXXXXX")
  # Lock::Timeout: another apt-get (unattended upgrades on a fresh machine) may hold the lock for a while.
  if ! {
    "${as_root[@]}" apt-get -o DPkg::Lock::Timeout=300 update &&
      "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 \
        install -y --no-install-recommends "${missing[@]}"
  } >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    say "gantry: apt-get failed (all of what it said: $log). To try by hand, as root:"
    say "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
    return 3
  fi
  rm -f "$log"
}
