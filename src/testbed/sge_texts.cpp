#include "testbed/sge_texts.hpp"

#include <fmt/format.h>

#include <sstream>

namespace gantry::testbed {

namespace {

/// Lines "key value" of Grid Engine: those that begin with `key` get another value.
std::string with_value(const std::string& text, const std::string& key, const std::string& value) {
  std::istringstream lines(text);
  std::string changed;
  for (std::string line; std::getline(lines, line);) {
    const bool is_key = line.starts_with(key + " ") || line.starts_with(key + "\t");
    changed += is_key ? fmt::format("{} {}\n", key, value) : line + "\n";
  }
  return changed;
}

}  // namespace

std::string sge_bootstrap_text(const std::string& folder) {
  return fmt::format(
      "admin_user sgeadmin\n"
      "default_domain none\n"
      "ignore_fqdn false\n"
      "spooling_method berkeleydb\n"
      "spooling_lib libspoolb\n"
      "spooling_params {0}/spool/database\n"
      "binary_path /usr/sbin\n"
      "qmaster_spool_dir {0}/spool/qmaster\n"
      "security_mode none\n"
      "listener_threads 2\n"
      "worker_threads 2\n"
      "scheduler_threads 1\n",
      folder);
}

std::string sge_configuration_text(const std::string& debian, const std::string& folder) {
  std::string text = with_value(debian, "execd_spool_dir", folder + "/spool/execd");
  // Who logs in to a testbed is root.
  text = with_value(text, "min_uid", "0");
  text = with_value(text, "min_gid", "0");
  text = with_value(text, "load_report_time", "00:00:05");
  text = with_value(text, "max_unheard", "00:00:20");
  text = with_value(text, "shell_start_mode", "unix_behavior");
  return with_value(text, "reporting_params",
                    "accounting=true reporting=false flush_time=00:00:01 joblog=false "
                    "sharelog=00:00:00");
}

std::string sge_scheduler_text() {
  return "algorithm default\n"
         "schedule_interval 0:0:1\n"
         "maxujobs 0\n"
         "queue_sort_method load\n"
         "job_load_adjustments NONE\n"
         "load_adjustment_decay_time 0:0:0\n"
         "load_formula np_load_avg\n"
         "schedd_job_info true\n"
         "flush_submit_sec 1\n"
         "flush_finish_sec 1\n"
         "params none\n"
         "reprioritize_interval 0:0:0\n"
         "halftime 168\n"
         "usage_weight_list cpu=1.0,mem=0.0,io=0.0\n"
         "compensation_factor 5.0\n"
         "weight_user 0.25\n"
         "weight_project 0.25\n"
         "weight_department 0.25\n"
         "weight_job 0.25\n"
         "weight_tickets_functional 0\n"
         "weight_tickets_share 0\n"
         "share_override_tickets TRUE\n"
         "share_functional_shares TRUE\n"
         "max_functional_jobs_to_schedule 200\n"
         "report_pjob_tickets TRUE\n"
         "max_pending_tasks_per_job 50\n"
         "halflife_decay_list none\n"
         "policy_hierarchy OFS\n"
         "weight_ticket 0.01\n"
         "weight_waiting_time 0.0\n"
         "weight_deadline 3600000.0\n"
         "weight_urgency 0.1\n"
         "weight_priority 1.0\n"
         "max_reservation 0\n"
         "default_duration INFINITY\n";
}

std::string sge_exec_host_text(const std::string& host) {
  return fmt::format(
      "hostname {}\nload_scaling NONE\ncomplex_values NONE\nuser_lists NONE\nxuser_lists NONE\n"
      "projects NONE\nxprojects NONE\nusage_scaling NONE\nreport_variables NONE\n",
      host);
}

std::string sge_host_group_text(const SitePlan& site) {
  std::string text = "group_name @allhosts\nhostlist";
  for (const auto& host : site.hosts) text += " " + host.name;
  return text + "\n";
}

std::string sge_parallel_environment_text() {
  return "pe_name smp\n"
         "slots 9999\n"
         "user_lists NONE\n"
         "xuser_lists NONE\n"
         "start_proc_args NONE\n"
         "stop_proc_args NONE\n"
         "allocation_rule $pe_slots\n"  // all on one host
         "control_slaves FALSE\n"
         "job_is_first_task TRUE\n"
         "urgency_slots min\n"
         "accounting_summary FALSE\n"
         "qsort_args NONE\n";
}

std::string sge_queue_text(const SitePlan& site) {
  std::string text = fmt::format(
      "qname all.q\n"
      "hostlist @allhosts\n"
      "seq_no 0\n"
      "load_thresholds NONE\n"
      "suspend_thresholds NONE\n"
      "nsuspend 1\n"
      "suspend_interval 00:05:00\n"
      "priority 0\n"
      "min_cpu_interval 00:05:00\n"
      "processors UNDEFINED\n"
      "qtype BATCH INTERACTIVE\n"
      "ckpt_list NONE\n"
      "pe_list smp\n"
      "rerun FALSE\n"
      "slots {}\n"
      "tmpdir /tmp\n"
      "shell /bin/sh\n"
      "shell_start_mode unix_behavior\n"
      "notify 00:00:60\n"
      "initial_state default\n",
      site.slots);
  for (const auto* key :
       {"prolog", "epilog", "starter_method", "suspend_method", "resume_method", "terminate_method",
        "owner_list", "user_lists", "xuser_lists", "subordinate_list", "complex_values", "projects",
        "xprojects", "calendar"})
    text += fmt::format("{} NONE\n", key);
  for (const auto* what : {"rt", "cpu", "fsize", "data", "stack", "core", "rss", "vmem"})
    text += fmt::format("s_{0} INFINITY\nh_{0} INFINITY\n", what);
  return text;
}

}  // namespace gantry::testbed
