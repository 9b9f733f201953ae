# shellcheck shell=bash
# ./dev package: the .deb, and a try of what it holds. Sourced by ./dev; needs $root.
: "${root:?}"

suite_package() {
  compile release || return
  local scratch
  scratch=$(mktemp -d "${TMPDIR:-/tmp}/gantry-package.XXXXXX")
  # shellcheck disable=SC2064  # the name is wanted as it is now
  trap "rm -rf '$scratch'" EXIT
  rm -rf "$root/build/release/package"
  check "cpack builds the .deb" cpack --config "$root/build/release/CPackConfig.cmake"
  check "it holds what it should" package_contents "$scratch"
  check "installed gantry answers --version" "$scratch/usr/bin/gantry" --version
  check "installed gantry runs a sweep with the installed agent" package_sweep "$scratch"
  ls "$root"/build/release/package/*.deb
}

package_contents() {
  local scratch=$1 file missing=0
  dpkg-deb --info "$root"/build/release/package/*.deb
  dpkg-deb --extract "$root"/build/release/package/*.deb "$scratch"
  for file in bin/gantry libexec/gantry/gantry-agent share/bash-completion/completions/gantry \
    share/zsh/vendor-completions/_gantry share/man/man1/gantry.1.gz share/doc/gantry/copyright \
    share/doc/gantry/examples/quickstart/sweep.yaml share/doc/gantry/examples/testbed/three-sites.yaml; do
    [[ -s $scratch/usr/$file ]] || {
      echo "missing: /usr/$file"
      missing=1
    }
  done
  while read -r file; do
    [[ -e $scratch/usr/share/doc/gantry/$file ]] || {
      echo "the README names $file, which is not installed"
      missing=1
    }
  done < <(grep -oE '\]\([^):#]+' "$root/README.md" | cut -c3-)
  # It goes over slow links to machines where people have little room.
  if (($(stat -c %s "$scratch/usr/libexec/gantry/gantry-agent") > 3000000)); then
    echo "gantry-agent has more than 3 MB"
    missing=1
  fi
  # Whatever a manual page gets wrong shows as a warning here.
  local warnings
  warnings=$(man --warnings -l "$scratch/usr/share/man/man1/gantry.1.gz" 2>&1 >/dev/null)
  [[ -z $warnings ]] || echo "manual page: $warnings"
  [[ $missing == 0 && -z $warnings ]]
}

package_sweep() {
  local scratch=$1 study=$1/study lines
  mkdir -p "$study"
  cd "$study" || return
  # shellcheck disable=SC2016  # $1 is for the inner shell
  "$scratch/usr/bin/gantry" run -- sh -c 'echo "$1" >>out' sh '{}' ::: one two three || return
  lines=$(sort out | tr '\n' ' ')
  [[ $lines == "one three two " ]]
}
