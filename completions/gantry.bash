# Completion of gantry's words in bash. Installed as bash-completion/completions/gantry; without an installation:
#   source <(gantry completion bash)

_gantry_options() {
  local common="--state --color --help"
  local session="--jobs --keep-going --max-fails --scheduler --no-duplicates --learn-for --grid --quiet --json --no-progress --output --no-output --keep-order --tag --joblog"
  local states="--failed --done --cancelled --pending"
  case $1 in
    run) echo "$session --fresh --dry-run --wait --join --weight --shell --timeout --retries $common" ;;
    status) echo "--json --watch $common" ;;
    top) echo "--once --json $common" ;;
    forecast) echo "--run --json $common" ;;
    tasks) echo "--run $states --json --wide $common" ;;
    log) echo "--run $states --stdout --stderr --attempt $common" ;;
    results) echo "--run --format --csv --jsonl --json --all --wide --plot --by --log-x --log-y $common" ;;
    fetch) echo "--run --all --grid --json $common" ;;
    explain) echo "--run --json $common" ;;
    cancel) echo "--run --grid $common" ;;
    retry) echo "--run --failed $session $common" ;;
    runs) echo "--json --wide $common" ;;
    clean) echo "--keep --yes $common" ;;
    plan) echo "--grid --jobs --scheduler --interval --svg --html --json $common" ;;
    simulate) echo "--cases --seed --schedulers --jobs --out --json --bandwidth-scale --optimize --kind $common" ;;
    grid) echo "--timeout --all --unfetched --json $common" ;;
    testbed) echo "--dir --for --json $common" ;;
    completion | help) echo "$common" ;;
    *) echo "--version $common" ;;
  esac
}

# The runs of this state directory, by number.
_gantry_runs() {
  "${COMP_WORDS[0]}" runs --json 2>/dev/null | sed -n 's/^{"run":\([0-9]*\),.*/\1/p'
}

# The experiments that can be simulated.
_gantry_experiments() {
  "${COMP_WORDS[0]}" simulate 2>/dev/null | sed -n '2,$s/ .*//p'
}

# The sites of the grid file that stands before.
_gantry_sites() {
  local file=""
  for ((i = 3; i < COMP_CWORD; i++)); do
    [[ ! -f ${COMP_WORDS[i]} ]] || file=${COMP_WORDS[i]}
  done
  [[ -z $file ]] || "${COMP_WORDS[0]}" grid list "$file" --json 2>/dev/null | grep -o '"site":"[^"]*' | sed 's/.*"//'
}

# Hosts or sites ($1) of the testbed.
_gantry_testbed() {
  "${COMP_WORDS[0]}" testbed status --json 2>/dev/null | grep -o "\"$1\":\"[a-z0-9]*" | sed 's/.*"//' | sort -u
}

# Parameters and results of the last run.
_gantry_columns() {
  "${COMP_WORDS[0]}" results --csv 2>/dev/null | sed -n '1{s/^task,\{0,1\}//;y/,/\n/;p;q}'
}

_gantry() {
  local commands="run status top forecast tasks log results fetch explain cancel retry runs clean plan simulate grid testbed completion help"
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command="" i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --state | --color) ((i++)) ;;
      -*) ;;
      *)
        command=${COMP_WORDS[i]}
        break
        ;;
    esac
  done
  if [[ $command == run ]]; then
    # What is run completes its own words: after `--`, or after a first word that is no sweep file.
    for ((i++; i < COMP_CWORD; i++)); do
      case ${COMP_WORDS[i]} in
        --)
          _gantry_inner $((i + 1))
          return
          ;;
        -j | --jobs | --max-fails | --scheduler | --grid | --joblog | --timeout | --retries | --state | --color) ((i++)) ;;
        -* | *.yaml | *.yml) ;;
        *)
          _gantry_inner "$i"
          return
          ;;
      esac
    done
  fi
  case $previous in
    --state)
      compopt -o dirnames 2>/dev/null
      return
      ;;
    --color) mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$word") && return ;;
    --format) mapfile -t COMPREPLY < <(compgen -W "table csv jsonl" -- "$word") && return ;;
    --kind) mapfile -t COMPREPLY < <(compgen -W "steady steps turns heavy dying" -- "$word") && return ;;
    --run) mapfile -t COMPREPLY < <(compgen -W "last $(_gantry_runs)" -- "$word") && return ;;
    --plot | --by) mapfile -t COMPREPLY < <(compgen -W "$(_gantry_columns)" -- "$word") && return ;;
    --out | --dir)
      compopt -o dirnames 2>/dev/null
      return
      ;;
    --joblog | --svg | --html | --grid)
      compopt -o default 2>/dev/null
      return
      ;;
    --scheduler | --schedulers)
      local schedulers="workqueue workqueue-steal round-robin random min-min max-min sufferage xsufferage best"
      [[ $command != plan ]] || schedulers+=" all"
      mapfile -t COMPREPLY < <(compgen -W "$schedulers" -- "$word")
      return
      ;;
    -j | --jobs | --max-fails | --timeout | --retries | --attempt | --keep | --cases | --seed | --interval | --bandwidth-scale | --optimize | --for) return ;;
  esac
  if ((COMP_CWORD > 2)) && [[ ${COMP_WORDS[COMP_CWORD - 2]} == --plot ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_gantry_columns)" -- "$word")
    return
  fi
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_gantry_options "$command")" -- "$word")
    return
  fi
  case $command in
    "") mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$word") ;;
    grid)
      case $previous in
        grid) mapfile -t COMPREPLY < <(compgen -W "check list add drain remove" -- "$word") ;;
        check | list | remove) compopt -o default 2>/dev/null ;;
        *) mapfile -t COMPREPLY < <(compgen -W "$(_gantry_sites)" -- "$word") ;;
      esac
      ;;
    testbed)
      case $previous in
        testbed) mapfile -t COMPREPLY < <(compgen -W "up status load cut mend kill revive down" -- "$word") ;;
        up) compopt -o default 2>/dev/null ;;
        load | kill | revive) mapfile -t COMPREPLY < <(compgen -W "$(_gantry_testbed host)" -- "$word") ;;
        cut | mend) mapfile -t COMPREPLY < <(compgen -W "$(_gantry_testbed site)" -- "$word") ;;
      esac
      ;;
    simulate) mapfile -t COMPREPLY < <(compgen -W "$(_gantry_experiments)" -- "$word") ;;
    run | plan)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(
        compgen -f -X '!*.yaml' -- "$word"
        compgen -f -X '!*.yml' -- "$word"
        compgen -d -- "$word"
      )
      ;;
    status) mapfile -t COMPREPLY < <(compgen -W "last all $(_gantry_runs)" -- "$word") ;;
    clean) mapfile -t COMPREPLY < <(compgen -W "last all $(_gantry_runs)" -- "$word") ;;
    tasks | log | results | cancel | retry) mapfile -t COMPREPLY < <(compgen -W "all" -- "$word") ;;
    completion) mapfile -t COMPREPLY < <(compgen -W "bash zsh" -- "$word") ;;
    help) mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$word") ;;
  esac
}

# Completes the command that `gantry run` is given; its words begin at number $1.
_gantry_inner() {
  if declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  else
    compopt -o default 2>/dev/null
  fi
}

complete -F _gantry gantry
complete -F _gantry ./gantry
