/// What a person sees when a sweep file is wrong: the exact message and suggestion of each mistake.

#include <gtest/gtest.h>

#include "spec/mistake_fixture.hpp"
#include "spec/spec.hpp"

namespace gantry::spec {
namespace {

class SweepErrors : public ::testing::TestWithParam<Mistake> {};

TEST_P(SweepErrors, Says) {
  const auto loaded = parse_sweep(GetParam().text, "s.yaml", "/tmp");
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().message, GetParam().message);
  EXPECT_EQ(loaded.error().hint, GetParam().hint);
  EXPECT_EQ(loaded.error().code, ErrorCode::usage);
}

const std::string kName = "a name has letters, digits and '_' and does not begin with a digit";

INSTANTIATE_TEST_SUITE_P(
    Document, SweepErrors,
    ::testing::Values(
        Mistake{"", "s.yaml:1:1: a sweep file is a map of keys like command: and parameters:",
                "see docs/formats/sweep.md for an example"},
        Mistake{"- a\n", "s.yaml:1:1: a sweep file is a map of keys like command: and parameters:",
                "see docs/formats/sweep.md for an example"},
        Mistake{"command: e\nparametres: {a: 1}\n",
                "s.yaml:2:1: unknown key 'parametres' in the sweep", "did you mean 'parameters'?"},
        Mistake{"command: e\nqqqqqq: 1\n", "s.yaml:2:1: unknown key 'qqqqqq' in the sweep",
                "known keys: name, description, shell, command, parameters, combine, sample, when, "
                "derived, cost, "
                "environment, workdir, inputs, outputs, results, resources, retries, timeout, "
                "checkpoint"},
        Mistake{"name: x\n", "s.yaml:1:1: there is no 'command'",
                "add command: ./program --option {parameter}"},
        Mistake{"command: e\nname: [a]\n", "s.yaml:2:7: 'name' must be text, not a list"},
        Mistake{"command: e\nname:\n", "s.yaml:2:1: 'name' has no value; expected text"},
        Mistake{"command: e\ncommand: f\n", "s.yaml:2:1: the key 'command' appears twice",
                "remove one of them"},
        Mistake{"command: [e\n", "s.yaml:2:1: not valid YAML: end of sequence flow not found"},
        Mistake{"command: e\n\tname: x\n",
                "s.yaml:2:1: not valid YAML: illegal tab when looking for indentation",
                "YAML is indented with spaces, not with tabs"},
        Mistake{"command: e\noutputs: [a, {x}.dat]\n",
                "s.yaml:2:17: not valid YAML: end of sequence flow not found",
                "text with braces needs quotes in a list, in a map and where it begins with one: "
                "'{name}.dat'"},
        Mistake{"a: *nowhere\n",
                "s.yaml:1:4: not valid YAML: the referenced anchor is not defined"},
        Mistake{"a: &x [*x]\n", "s.yaml:1:8: an alias is inside the node that it repeats"},
        Mistake{"[1]: e\n", "s.yaml:1:1: a key must be plain text"}));

INSTANTIATE_TEST_SUITE_P(
    Command, SweepErrors,
    ::testing::Values(
        Mistake{"command: ''\n", "s.yaml:1:11: the command is empty"},
        Mistake{"command: []\n", "s.yaml:1:10: the command is empty"},
        Mistake{"command: {a: b}\n", "s.yaml:1:10: 'command' must be a list of texts, not a map"},
        Mistake{"command: e 'x\n", "s.yaml:1:12: a single quote is not closed"},
        Mistake{"command: ./sim --seed {sed}\nparameters: {seed: 1..3}\n",
                "s.yaml:1:23: {sed} is not a parameter", "did you mean 'seed'?"},
        Mistake{"command: e {zzz}\nparameters: {seed: 1..3}\n",
                "s.yaml:1:12: {zzz} is not a parameter",
                "define 'zzz' under parameters:, or write {{zzz}} for literal braces"},
        Mistake{"command: e {}\n", "s.yaml:1:12: {} is not a parameter",
                "give the parameter's name, or write {{}} for literal braces"},
        Mistake{"command: 'e {\"a\":{\"b\":1}}'\n",
                "s.yaml:1:13: single and doubled braces are mixed in one text",
                "for literal braces write {{ and }} everywhere in it"},
        Mistake{"command: [a, b]\nshell: true\n",
                "s.yaml:1:10: with shell: true the command is one text, not a list"},
        Mistake{"command: e\nshell: maybe\n",
                "s.yaml:2:8: 'shell' must be true or false, not 'maybe'"},
        Mistake{"command: echo `date {x}`\nshell: true\nparameters: {x: 1}\n",
                "s.yaml:1:21: {x} cannot be put inside backticks safely",
                "assign it to a shell variable first (v={x}) and use \"$v\""},
        Mistake{"command: \"e a\\0b\"\n",
                "s.yaml:1:11: a NUL byte cannot be passed to a program"}));

INSTANTIATE_TEST_SUITE_P(
    Parameters, SweepErrors,
    ::testing::Values(
        Mistake{"command: e\nparameters: [a]\n",
                "s.yaml:2:13: 'parameters' must be a map from names to values, not a list"},
        Mistake{"command: e\nparameters: {2x: 1}\n",
                "s.yaml:2:14: '2x' cannot be a parameter's name", kName},
        Mistake{"command: e\nparameters: {gantry_x: 1}\n",
                "s.yaml:2:14: 'gantry_x': names with gantry_ are reserved"},
        Mistake{"command: e\nparameters: {x: }\n",
                "s.yaml:2:14: 'x' has no value; expected values: a range like 1..10, a list [a, "
                "b], or a rule"},
        Mistake{"command: e\nparameters: {x: []}\n", "s.yaml:2:17: parameter 'x' has no values"},
        Mistake{"command: e\nparameters: {x: [1, [2]]}\n",
                "s.yaml:2:21: a value of 'x' must be text or a number, not a list"},
        Mistake{"command: e\nparameters: {x: [1, ~]}\n",
                "s.yaml:2:21: a value of 'x' must be text or a number, not nothing",
                "write '' for an empty text"},
        Mistake{"command: e\nparameters: {x: 5..1}\n",
                "s.yaml:2:17: the range 5..1 step 1 is empty", "to count down, write 5..1 step -1"},
        Mistake{"command: e\nparameters: {x: 1..5 step 0}\n",
                "s.yaml:2:17: the step of a range cannot be 0"},
        Mistake{"command: e\nparameters: {x: 1..5 step a}\n",
                "s.yaml:2:17: step 'a' of a range is not a decimal number"},
        Mistake{"command: e\nparameters: {x: {from: 1}}\n", "s.yaml:2:17: a range needs 'to'"},
        Mistake{"command: e\nparameters: {x: {linspce: [0, 1, 3]}}\n",
                "s.yaml:2:18: unknown key 'linspce' in parameter 'x'", "did you mean 'linspace'?"},
        Mistake{"command: e\nparameters: {x: {linspace: [0, 1]}}\n",
                "s.yaml:2:28: 'linspace' must be [first, last, how many], not a list"},
        Mistake{"command: e\nparameters: {x: {logspace: [0, 1, 3]}}\n",
                "s.yaml:2:28: both ends of a logarithmic scale must be above 0 (or both below)"},
        Mistake{"command: e\nparameters: {x: {linspace: [a, 1, 3]}}\n",
                "s.yaml:2:29: 'linspace' must be a number, not 'a'"},
        Mistake{"command: e\nparameters: {x: {glob: 'gantry-no-such-*'}}\n",
                "s.yaml:2:25: no file matches 'gantry-no-such-*'", "patterns are relative to /tmp"},
        Mistake{"command: e\nparameters: {x: {lines: gantry-no-such-file}}\n",
                "s.yaml:2:25: /tmp/gantry-no-such-file: No such file or directory"},
        Mistake{"command: e\nparameters: {x: {uniform: [0, 1]}}\n",
                "s.yaml:2:14: 'x' has no fixed values: it can only be sampled",
                "add sample: {method: latin-hypercube, n: 100}"},
        Mistake{
            "command: e\nparameters: {x: 1..3000000000}\n",
            "s.yaml:2:14: parameter 'x' has 3000000000 values; a sweep has at most 100000000 "
            "tasks",
            "make several sweeps of it, or take some of the values with sample: in a sweep file"},
        Mistake{"command: e\nparameters: {x: [a, -9223372036854775807..9223372036854775807]}\n",
                "s.yaml:2:21: this range is too long to be part of a list",
                "make it the parameter's only value"},
        Mistake{"command: e\nparameters: {x: [1..2, -9223372036854775807..9223372036854775807]}\n",
                "s.yaml:2:24: this range is too long to be part of a list",
                "make it the parameter's only value"},
        Mistake{
            "command: e\nparameters: {x: 1..1000000, y: 1..1000000, z: 1..1000000}\n",
            "s.yaml:2:29: the parameters up to 'y' make 1000000000000 or more tasks; a sweep "
            "has at most 100000000",
            "make several sweeps of it, or take some of the values with sample: in a sweep file"}));

INSTANTIATE_TEST_SUITE_P(
    Combining, SweepErrors,
    ::testing::Values(
        Mistake{"command: e\nparameters: {a: 1..3, b: 1..2}\ncombine: zip\n",
                "s.yaml:2:23: 'b' has 2 values, but 'a', which it is linked with, has 3",
                "linked parameters need equally many values"},
        Mistake{"command: e\nparameters: {a: 1..3}\ncombine: cross\n",
                "s.yaml:3:10: 'combine' must be product, zip, or a list of groups like [[a, b]], "
                "not 'cross'"},
        Mistake{"command: e\nparameters: {seed: 1..3}\ncombine: [[sed]]\n",
                "s.yaml:3:12: 'sed' is not a parameter", "did you mean 'seed'?"},
        Mistake{"command: e\nparameters: {a: 1..3, b: 1..3}\ncombine: [[a, b], [a]]\n",
                "s.yaml:3:20: 'a' is already linked with other parameters"},
        Mistake{"command: e\nparameters: {a: 1..3}\nsample: {n: 0}\n",
                "s.yaml:3:13: 'n' must be a whole number from 1 to 100000000, not '0'"},
        Mistake{"command: e\nparameters: {a: 1..3}\nsample: {method: sobel, n: 3}\n",
                "s.yaml:3:18: 'method' must be random, latin-hypercube or sobol, not 'sobel'"},
        Mistake{"command: e\nsample: {n: 3}\n", "s.yaml:2:9: there is no parameter to sample"},
        Mistake{"command: e\nparameters: {a: 1..3}\nwhen: a > 5\n",
                "s.yaml:3:7: none of the 3 combinations passes this filter"},
        Mistake{"command: e\nparameters: {a: 1..3}\nwhen: a = 5\n",
                "s.yaml:3:9: '=' does not compare", "write == to compare"},
        Mistake{"command: e\nparameters: {a: 1..3}\nwhen: b > 5\n",
                "s.yaml:3:7: 'b' is not a parameter",
                "to compare with a text, put it in quotes: \"b\""},
        Mistake{"command: e\nparameters: {a: 1..3}\nderived: {a: 2}\n",
                "s.yaml:3:11: 'a' is defined twice"},
        Mistake{"command: e\nparameters: {a: 0..3}\nderived: {b: 1 / a}\n",
                "s.yaml:3:14: 'b' of task 1 would be inf"},
        Mistake{"command: e\nparameters: {a: 0..3}\ncost: a\n",
                "s.yaml:3:7: the cost of task 1 would be 0; it must be finite, and 1e-300 or more"},
        Mistake{"command: echo {n}\nparameters: {n: 1}\ncost: 1e-320",
                "s.yaml:3:7: the cost of task 1 would be 1e-320; it must be finite, and 1e-300 or "
                "more"}));

INSTANTIATE_TEST_SUITE_P(
    TheRest, SweepErrors,
    ::testing::Values(
        Mistake{"command: e\ninputs: [gantry-no-such-file]\n",
                "s.yaml:2:10: the input /tmp/gantry-no-such-file of task 1 is not there",
                "paths are relative to /tmp"},
        Mistake{"command: e\nparameters: {a: 1..3, b: 1..3}\noutputs: out_{a}\n",
                "s.yaml:3:10: tasks 1 and 2 would both write /tmp/out_1",
                "put every parameter that varies into the name, or {#}, the task's number"},
        Mistake{"command: e\nparameters: {a: [1, 11], b: [11, 1]}\noutputs: out_{a}{b}\n",
                "s.yaml:3:10: tasks 1 and 4 would both write /tmp/out_111",
                "put every parameter that varies into the name, or {#}, the task's number"},
        Mistake{"command: e\nparameters: {a: 1..3}\nresults: {v: {json: out.json}}\n",
                "s.yaml:3:21: tasks 1 and 2 would both write /tmp/out.json",
                "put every parameter that varies into the name, or {#}, the task's number, or give "
                "each task a 'workdir:' of its own; a file that tasks only read belongs in "
                "'inputs:' too"},
        Mistake{"command: e\noutputs: [{keep: remote}]\n",
                "s.yaml:2:11: 'outputs' must be a name, or a map like {file: NAME, keep: remote}, "
                "not a map"},
        Mistake{"command: e\noutputs: [{file: x, keep: there}]\n",
                "s.yaml:2:27: 'keep' must be 'remote' or 'home', not 'there'"},
        Mistake{"command: e\noutputs: [{file: x, stay: remote}]\n",
                "s.yaml:2:21: unknown key 'stay' in an output", "known keys: file, keep"},
        Mistake{"command: e\noutputs: [x, ./x]\n", "s.yaml:2:14: the output /tmp/x is named twice"},
        Mistake{"command: e\nenvironment: {A-B: 1}\n",
                "s.yaml:2:15: 'A-B' cannot be a variable's name", kName},
        Mistake{"command: e\nenvironment: {GANTRY_X: 1}\n",
                "s.yaml:2:15: 'GANTRY_X': names with GANTRY_ are reserved"},
        Mistake{"command: e\nenvironment: x\n",
                "s.yaml:2:14: 'environment' must be a map from names to texts, not 'x'"},
        Mistake{"command: e\nresources: {core: 2}\n",
                "s.yaml:2:13: unknown key 'core' in resources", "did you mean 'cores'?"},
        Mistake{"command: e\nresources: {cores: -1}\n",
                "s.yaml:2:20: 'cores' must be a whole number from 1 to 1000000, not '-1'"},
        Mistake{"command: e\nresources: {memory: 2 apples}\n",
                "s.yaml:2:21: 'memory' must be an amount like 500MB or 2 GiB, or learn, not '2 "
                "apples'"},
        Mistake{"command: e\nresources: {memory: lern}\n",
                "s.yaml:2:21: 'memory' must be an amount like 500MB or 2 GiB, or learn, not 'lern'",
                "did you mean 'learn'?"},
        Mistake{"command: e\nparameters: {a: [learn, x]}\nresources: {memory: '{a}'}\n",
                "s.yaml:3:22: 'memory' of task 2 would be 'x'; it must be an amount like 2 GiB, or "
                "'learn'"},
        Mistake{"command: e\nparameters: {a: [1, x]}\nresources: {cores: '{a}'}\n",
                "s.yaml:3:21: 'cores' of task 2 would be 'x'; it must be a whole number"},
        Mistake{"command: e\ntimeout: soon\n",
                "s.yaml:2:10: 'timeout' must be a time like 90s, 1h30m or 00:10:00, not 'soon'"},
        Mistake{"command: e\nretries: -1\n",
                "s.yaml:2:10: 'retries' must be a whole number from 0 to 1000000, not '-1'"},
        Mistake{"command: e\nretries: {count: 1, factor: 0.5}\n",
                "s.yaml:2:29: 'factor' must be a number from 1 to 1000, not '0.5'"},
        Mistake{"command: e\nresults: {e: '('}\n",
                "s.yaml:2:15: the pattern of 'e' is not a regular expression: missing ): (",
                "see https://github.com/google/re2/wiki/Syntax"},
        Mistake{"command: e\nresults: {e: {jsn: f}}\n",
                "s.yaml:2:15: unknown key 'jsn' in result 'e'", "did you mean 'json'?"},
        Mistake{"command: e\nresults: {e: {csv: f, row: middle}}\n",
                "s.yaml:2:28: 'row' must be first, last or a number from 1, not 'middle'"},
        Mistake{"command: e\nparameters: {e: 1}\nresults: {e: x}\n",
                "s.yaml:3:11: 'e' is defined twice"}));

}  // namespace
}  // namespace gantry::spec
