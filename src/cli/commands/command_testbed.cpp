// gantry testbed: a real grid on one machine.
#include <fmt/format.h>

#include <array>
#include <charconv>

#include "base/machine.hpp"
#include "cli/commands/commands.hpp"
#include "cli/terminal/display_text.hpp"
#include "cli/terminal/error_report.hpp"
#include "cli/terminal/json_line.hpp"
#include "cli/terminal/table.hpp"
#include "model/decimal.hpp"
#include "model/quantity.hpp"
#include "model/suggest.hpp"
#include "spec/testbed_file.hpp"
#include "testbed/host_load.hpp"
#include "testbed/link_relay.hpp"
#include "testbed/testbed.hpp"

namespace gantry::cli {
namespace {

using testbed::Testbed;

constexpr double kMostLoad = 100;

struct TestbedOptions {
  std::string action;
  std::vector<std::string> words;  ///< what the action is done to
  std::string dir;
  std::string how_long;
  bool json = false;
};

std::filesystem::path folder_of(const Context& context, const TestbedOptions& options) {
  return options.dir.empty() ? context.state_dir / "testbed" : std::filesystem::path(options.dir);
}

/// Hosts that together ask for more than there is are slower than they say.
void warn_of_overload(Context& context, const testbed::TestbedPlan& plan) {
  double cores = 0;
  for (const auto& site : plan.sites)
    for (const auto& host : site.hosts) cores += host.cores;
  const std::uint32_t available = usable_cores();
  if (cores > available + 0.001)
    context.note(fmt::format(
        "the hosts may use {:g} cores together and this machine has {}: when all compute, they are "
        "slower than their speed: says",
        cores, available));
}

Result<int> testbed_up(Context& context, const TestbedOptions& options) {
  TRY(testbed::need_root());
  TRY_ASSIGN(const TestbedSpec spec, spec::load_testbed(options.words[0]));
  TRY_ASSIGN(const Testbed testbed, Testbed::up(spec, folder_of(context, options)));
  const auto& plan = testbed.plan();
  std::size_t hosts = 0;
  for (const auto& site : plan.sites) hosts += site.hosts.size();
  context.note(fmt::format("testbed '{}' is up: {} at {}, network {}.0.0/16", plan.name,
                           count_of(hosts, "host"), count_of(plan.sites.size(), "site"),
                           plan.network));
  warn_of_overload(context, plan);
  context.out.line(fmt::format("grid  {}", testbed.files().grid().string()));
  context.out.line(fmt::format("ssh   ssh -F {} {}", testbed.files().ssh_config().string(),
                               plan.sites[0].hosts[0].name));
  return kExitOk;
}

Result<int> testbed_down(Context& context, const TestbedOptions& options) {
  TRY_ASSIGN(const bool was_there, options.words.empty()
                                       ? testbed::take_down_folder(folder_of(context, options))
                                       : testbed::take_down_name(options.words[0]));
  std::error_code ignored;  // there may be more in the state directory
  if (was_there && options.dir.empty()) std::filesystem::remove(context.state_dir, ignored);
  context.note(was_there ? "the testbed is down" : "there is no testbed, so nothing was done");
  const std::string others = was_there ? "" : testbed::other_testbeds_text();
  if (!others.empty()) context.note(others);
  return kExitOk;
}

std::string cut_text(std::optional<Duration> left) {
  if (!left) return "up";
  return *left == Duration::max() ? "cut" : fmt::format("cut, {:.1f} s left", seconds(*left));
}

void print_testbed_json(Context& context, const Testbed& testbed) {
  JsonLine all(context.out.buffer());
  all.text("name", testbed.plan().name).text("folder", testbed.files().dir.string());
  all.text("network", testbed.plan().network + ".0.0/16");
  std::vector<std::pair<const testbed::SitePlan*, const testbed::HostPlan*>> hosts;
  for (const auto& site : testbed.plan().sites)
    for (const auto& host : site.hosts) hosts.emplace_back(&site, &host);
  all.objects("hosts", hosts, [&](JsonLine& line, const auto& each) {
    const auto& [site, host] = each;
    const auto status = testbed.status_of(*host);
    line.text("host", host->name).text("site", site->name).text("via", name_of(site->via));
    line.text("address", host->address).number("slots", site->slots).real("speed", host->speed);
    line.flag("alive", status.processes > 0).number("processes", status.processes);
    line.real("load", status.load);
  });
  all.objects("links", testbed.plan().sites, [&](JsonLine& link, const auto& site) {
    link.text("site", site.name).real("bandwidth", site.bandwidth);
    link.real("latency", seconds(site.latency)).flag("cut", testbed.cut_left_of(site).has_value());
    if (site.head) link.text("login", site.head->name);
  });
  all.close();
}

void print_testbed_tables(Context& context, const Testbed& testbed) {
  context.out.line(fmt::format("{}: network {}.0.0/16, folder {}", testbed.plan().name,
                               testbed.plan().network, testbed.files().dir.string()));
  Table hosts = context.table(
      {{"host"}, {"site"}, {"via"}, {"state"}, {"slots"}, {"speed"}, {"load"}, {"address"}});
  Table links = context.table({{"link"}, {"bandwidth"}, {"latency"}, {"state"}, {"login"}});
  for (const auto& site : testbed.plan().sites) {
    for (const auto& host : site.hosts) {
      const auto status = testbed.status_of(host);
      hosts.add({host.name, site.name, std::string(name_of(site.via)),
                 Cell(status.processes > 0 ? "up" : "dead",
                      status.processes > 0 ? Color::none : Color::red),
                 std::to_string(site.slots), fmt::format("{:g}", host.speed),
                 fmt::format("{:g}", status.load), host.address});
    }
    const auto left = testbed.cut_left_of(site);
    links.add({site.name, fmt::format("{:g} MB/s", site.bandwidth / 1e6),
               fmt::format("{:g} ms", seconds(site.latency) * 1e3),
               Cell(cut_text(left), left ? Color::red : Color::none),
               site.head ? site.head->name : "-"});
  }
  hosts.finish();
  context.out.line("");
  links.finish();
}

Result<int> testbed_status(Context& context, const TestbedOptions& options) {
  TRY_ASSIGN(const Testbed testbed, Testbed::open(folder_of(context, options)));
  if (options.json)
    print_testbed_json(context, testbed);
  else
    print_testbed_tables(context, testbed);
  return kExitOk;
}

Result<int> testbed_load(Testbed& testbed, const TestbedOptions& options) {
  const auto load = parse_number(options.words[1]);
  if (!load || !(*load >= 0) || *load > kMostLoad)
    return fail(ErrorCode::usage,
                fmt::format("'{}' is no load from 0 to {}", one_line(options.words[1]), kMostLoad),
                "1 is a process that computes all the time, 0 is none");
  TRY(testbed.set_load(options.words[0], *load));
  return kExitOk;
}

Result<int> testbed_cut(Testbed& testbed, const TestbedOptions& options) {
  std::optional<Duration> how_long;
  if (!options.how_long.empty()) {
    how_long = parse_duration(options.how_long);
    if (!how_long)
      return fail(ErrorCode::usage, fmt::format("'{}' is not a time", one_line(options.how_long)),
                  "write 20s or 1m30s");
  }
  TRY(testbed.cut(options.words[0], how_long));
  return kExitOk;
}

/// What testbeds start of gantry itself, not for people: a link, and a load.
Result<int> testbed_relay(const TestbedOptions& options) {
  const auto& words = options.words;
  Duration::rep latency = 0;
  std::from_chars(words[4].data(), words[4].data() + words[4].size(), latency);
  TRY(testbed::run_relay(
      {{words[0], words[1]}, {words[2], words[3]}, Duration{latency}, words[5]}));
  return kExitOk;
}

struct TestbedAction {
  std::string_view name;
  std::size_t least;  ///< words after it
  std::size_t most;
  std::string_view wants;  ///< empty: not for people
};

constexpr std::array<TestbedAction, 10> kTestbedActions{{
    {"up", 1, 1, "gantry testbed up FILE"},
    {"status", 0, 0, "gantry testbed status"},
    {"load", 2, 2, "gantry testbed load HOST 0.5"},
    {"cut", 1, 1, "gantry testbed cut SITE [--for 20s]"},
    {"mend", 1, 1, "gantry testbed mend SITE"},
    {"kill", 1, 1, "gantry testbed kill HOST"},
    {"revive", 1, 1, "gantry testbed revive HOST"},
    {"down", 0, 1, "gantry testbed down [NAME]"},
    {"relay", 6, 6, ""},
    {testbed::kSpinWord, 1, 1, ""},
}};

Result<> check_testbed_words(const TestbedOptions& options) {
  std::vector<std::string_view> names;
  for (const auto& action : kTestbedActions) {
    if (action.name == options.action) {
      if (options.words.size() >= action.least && options.words.size() <= action.most) return {};
      return fail(ErrorCode::usage, fmt::format("'testbed {}' has other words", action.name),
                  std::string(action.wants));
    }
    if (!action.wants.empty()) names.push_back(action.name);
  }
  std::string hint = did_you_mean(options.action, names);
  if (hint.empty()) hint = fmt::format("one of {}", fmt::join(names, ", "));
  return fail(ErrorCode::usage, fmt::format("a testbed has no '{}'", one_line(options.action)),
              std::move(hint));
}

Result<int> run_testbed(Context& context, const TestbedOptions& options) {
  TRY(check_testbed_words(options));
  if (!options.how_long.empty() && options.action != "cut")
    return fail(ErrorCode::usage, "--for is for 'testbed cut'");
  if (options.action == "relay") return testbed_relay(options);
  if (options.action == testbed::kSpinWord)
    testbed::spin(parse_number(options.words[0]).value_or(1));
  if (options.action == "up") return testbed_up(context, options);
  if (options.action == "down") return testbed_down(context, options);
  if (options.action == "status") return testbed_status(context, options);
  TRY_ASSIGN(Testbed testbed, Testbed::open(folder_of(context, options)));
  if (options.action == "load") return testbed_load(testbed, options);
  if (options.action == "cut") return testbed_cut(testbed, options);
  if (options.action == "mend") TRY(testbed.mend(options.words[0]));
  if (options.action == "kill") TRY(testbed.kill_host(options.words[0]));
  if (options.action == "revive") TRY(testbed.revive_host(options.words[0]));
  return kExitOk;
}

}  // namespace

void add_testbed(CLI::App& app, Action& action) {
  const auto [command, options] = add_command(
      app, action, "testbed", "A real grid on this machine, to try things on", run_testbed);
  command->add_option("ACTION", options->action, "up, status, load, cut, mend, kill, revive, down")
      ->type_name("")
      ->required();
  command->add_option("WORDS", options->words, "A testbed file, a host or a site")->type_name("");
  command->add_option("--dir", options->dir, "The testbed's folder (default: testbed in --state)")
      ->type_name("DIR");
  command->add_option("--for", options->how_long, "cut: mend the link after this time")
      ->type_name("TIME");
  command->add_flag("--json", options->json, "status: for a program");
  command->footer(
      "Sites are network namespaces, with an sshd for each host, and Slurm or Grid\n"
      "Engine where asked for; links have real bandwidth and latency, hosts a share\n"
      "of the processors. Needs root on Linux.\n"
      "The file is described in docs/formats/testbed.md.\n\n"
      "Examples:\n"
      "  gantry testbed up examples/testbed/three-sites.yaml\n"
      "  gantry testbed load s1h1 1        a process that computes beside the tasks\n"
      "  gantry testbed cut s2 --for 20s   nothing comes through to or from site s2\n"
      "  gantry testbed kill s1h2          its processes die, and nobody is told\n"
      "  gantry testbed down");
}

}  // namespace gantry::cli
