#include "actuate/launch/batch/batch_system.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gantry {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kNames{"gantry-ab-c1-1", "gantry-ab-c1-2"};

TEST(BatchSystem, AScriptBecomesTheAgent) {
  EXPECT_EQ(pilot_script({"/home/o'neil/site", "bin/gantry-agent-1", "work/ab/hosts/c1-1"}),
            "#!/bin/sh\n"
            "umask 077\n"
            "cd '/home/o'\\''neil/site' || exit 1\n"
            "mkdir -p 'work/ab/hosts/c1-1/agent' || exit 1\n"
            "exec 'bin/gantry-agent-1' pilot 'work/ab/hosts/c1-1' . "
            ">'work/ab/hosts/c1-1/agent/job.log' 2>&1 </dev/null\n");
  EXPECT_THAT(pilot_script({"/s", "bin/a", "h", 58min}), HasSubstr("pilot 'h' . 3480 >"));
}

TEST(BatchSystem, TasksEndBeforeTheirJobDoes) {
  EXPECT_EQ(time_for_tasks(1h), 58min);
  EXPECT_EQ(time_for_tasks(1min), 30s);
  EXPECT_EQ(time_for_tasks(0s), 0s);
  const BatchRequest request{"", "", 1min, 1, {}};
  EXPECT_THAT(submit_command(BatchSystem::slurm, request, "n", "", "END"),
              HasSubstr("'--time=0:01:00' '--signal=B:TERM@15'"));
  EXPECT_THAT(submit_command(BatchSystem::sge, request, "n", "", "END"),
              HasSubstr("'-l' 'h_rt=60' '-l' 's_rt=45'"));
}

TEST(BatchSystem, SlurmIsAskedForWhatTheSiteSays) {
  const BatchRequest request{"debug", "phys", 90min + 30s, 4, {"--mem=4G", "--constraint=a&b"}};
  const std::string command =
      submit_command(BatchSystem::slurm, request, "gantry-ab-c1-1", "#!/bin/sh\n", "END");
  EXPECT_THAT(command, HasSubstr("'sbatch' '--parsable' '--job-name=gantry-ab-c1-1'"));
  EXPECT_THAT(command, HasSubstr("'--nodes=1' '--ntasks=1' '--cpus-per-task=4'"));
  EXPECT_THAT(command, HasSubstr("'--partition=debug' '--account=phys' '--time=1:30:30'"));
  EXPECT_THAT(command, HasSubstr("'--mem=4G' '--constraint=a&b' <<'END'\n#!/bin/sh\nEND"));
  const std::string plain = submit_command(BatchSystem::slurm, {}, "n", "", "END");
  for (const char* option : {"--partition", "--account", "--time"})
    EXPECT_THAT(plain, Not(HasSubstr(option)));
}

TEST(BatchSystem, GridEngineIsAskedForWhatTheSiteSays) {
  BatchRequest request{"all.q", "phys", 1h, 2, {}};
  EXPECT_THAT(submit_command(BatchSystem::sge, request, "gantry-ab-g1-1", "", "END"),
              HasSubstr("'-q' 'all.q' '-P' 'phys' '-l' 'h_rt=3600' '-l' 's_rt=3540' "
                        "'-pe' 'smp' '2' <<'END'\n"));
  request.directives = {"-pe threads 2", "-l  mem=1G"};
  const std::string command = submit_command(BatchSystem::sge, request, "n", "", "END");
  EXPECT_THAT(command, HasSubstr("'-pe' 'threads' '2' '-l' 'mem=1G' <<"));
  EXPECT_THAT(command, Not(HasSubstr("'smp'")));
}

TEST(BatchSystem, NothingThatAPersonWroteReachesTheShell) {
  const BatchRequest request{"$(reboot)", "`id`", 0s, 1, {"--x=';reboot;'"}};
  EXPECT_THAT(submit_command(BatchSystem::slurm, request, "n", "", "END"),
              testing::AllOf(HasSubstr("'--partition=$(reboot)'"), HasSubstr("'--account=`id`'"),
                             HasSubstr("'--x='\\'';reboot;'\\'''")));
}

TEST(BatchSystem, AJobHasANumber) {
  for (const auto& [output, id] : std::vector<std::pair<std::string, std::string>>{
           {"12\n", "12"},
           {"12;cluster\n", "12"},
           {"12.1-20:1\n", "12"},
           {"Welcome!\nsbatch: lua: using 4 cores\n4711\nthank you\n", "4711"},
           {"\r\n7\r\n", "7"}})
    EXPECT_EQ(parse_job_id(output), id) << output;
  for (const std::string output :
       {"", "\n", "-1\n", "12 13\n", "12;\n1x", "99999999999999999999999", "job 12 submitted\n",
        "$(reboot)\n"}) {
    const auto id = parse_job_id(output);
    EXPECT_TRUE(!id || *id == "12") << output;
  }
  EXPECT_FALSE(parse_job_id("Your job 3 (\"x\") has been submitted\n"));
}

TEST(BatchSystem, SlurmTellsOfAllJobsAtOnce) {
  EXPECT_EQ(queue_command(BatchSystem::slurm, kNames),
            "'squeue' '--array' '--format=%F|%K|%T|%r|%j' '--states=all' "
            "'--name=gantry-ab-c1-1,gantry-ab-c1-2' "
            "--user=\"$(id -un)\"");
  const auto jobs = parse_queue(
      BatchSystem::slurm,
      "motd\n11|N/A|RUNNING|None|gantry-ab-c1-1\n12|7|PENDING|Resources|gantry-ab-c1-2\r\n"
      "13|N/A|COMPLETING|None|gantry-ab-c1-2\n14|N/A|RUNNING|None|gantry-cd-c1-1\n",
      kNames);
  ASSERT_EQ(jobs.size(), 3);
  EXPECT_EQ(parse_jobs(BatchSystem::slurm, "9|1|PENDING|PartitionConfig|n\n").at(0).state,
            JobState::unfit);
  EXPECT_EQ(jobs[0].id, "11");
  EXPECT_EQ(jobs[0].state, JobState::running);
  EXPECT_EQ(jobs[1].name, "gantry-ab-c1-2");
  EXPECT_EQ(jobs[1].state, JobState::queued);
  EXPECT_EQ(jobs[1].element, 7U);
  EXPECT_EQ(jobs[0].element, 0U);
  EXPECT_EQ(jobs[2].state, JobState::ending);
}

TEST(BatchSystem, SlurmTellsWhatIsSuspendedAndWhatHasEnded) {
  const auto state = [](const std::string& word) {
    return parse_jobs(BatchSystem::slurm, "1|N/A|" + word + "|None|n\n").at(0).state;
  };
  EXPECT_EQ(state("SUSPENDED"), JobState::suspended);
  EXPECT_EQ(state("STOPPED"), JobState::suspended);
  EXPECT_EQ(state("REQUEUED"), JobState::queued);
  EXPECT_EQ(state("PREEMPTED"), JobState::ended);  // none of ours is requeued
  EXPECT_EQ(state("TIMEOUT"), JobState::ended);
  EXPECT_EQ(state("COMPLETING"), JobState::ending);
}

TEST(BatchSystem, AnAnswerWithoutJobsIsMoreThanNone) {
  EXPECT_TRUE(is_whole(BatchSystem::slurm, "motd\nARRAY_JOB_ID|ARRAY_TASK_ID|STATE|REASON|NAME\n"));
  EXPECT_FALSE(is_whole(BatchSystem::slurm, "motd\n"));
  EXPECT_TRUE(is_whole(BatchSystem::sge, "<job_info>\n</job_info>\n"));
  EXPECT_FALSE(is_whole(BatchSystem::sge, "<job_info>\n"));
}

TEST(BatchSystem, GridEngineTellsOfAllJobsAtOnce) {
  const auto job = [](const std::string& id, const std::string& name, const std::string& state) {
    return "<job_list state=\"x\">\n<JB_job_number>" + id + "</JB_job_number>\n<JB_name>" + name +
           "</JB_name>\n<state>" + state + "</state>\n</job_list>\n";
  };
  const std::string text = "<?xml version='1.0'?>\n<job_info>\n" + job("1", kNames[0], "r") +
                           job("2", kNames[1], "qw") + job("3", kNames[1], "dr") +
                           job("4", kNames[1], "Eqw") + job("5", "other", "r") +
                           job("6", kNames[0], "S") + job("7", kNames[0], "T") +
                           job("8", kNames[0], "s") + "</job_info>";
  const auto jobs = parse_queue(BatchSystem::sge, text, kNames);
  ASSERT_EQ(jobs.size(), 7);
  for (const std::size_t i : {4, 5, 6}) EXPECT_EQ(jobs[i].state, JobState::suspended);
  EXPECT_EQ(jobs[0].state, JobState::running);
  EXPECT_EQ(jobs[1].state, JobState::queued);
  EXPECT_EQ(jobs[2].state, JobState::ending);
  EXPECT_EQ(jobs[3].state, JobState::stuck);
  for (std::size_t n = 0; n < text.size(); ++n)  // whatever is cut off
    EXPECT_LE(parse_queue(BatchSystem::sge, text.substr(0, n), kNames).size(), 7);
}

TEST(BatchSystem, HostileQueuesHoldNoJobs) {
  for (const std::string& text :
       {std::string("|||\n"), std::string("||RUNNING|None|gantry-ab-c1-1\n"),
        std::string("1;reboot|1|RUNNING|None|gantry-ab-c1-1\n"), std::string("1|1|RUNNING|None\n"),
        std::string("1|1|RUNNING|None|gantry-ab-c1-1x\n"), std::string(100'000, '|'),
        std::string(
            "<job_list><JB_job_number>$(x)</JB_job_number><JB_name>gantry-ab-c1-1</JB_name>"),
        std::string("<job_list<job_list<job_list")})
    for (const auto system : {BatchSystem::slurm, BatchSystem::sge})
      EXPECT_TRUE(parse_queue(system, text, kNames).empty()) << text.substr(0, 80);
}

TEST(BatchSystem, ADeskKnowsHowToMakeJobsOfTasks) {
  const BatchRequest request{"debug", "", 10min, 1, {"--mem=4G"}};
  const auto slurm = desk_words({.system = BatchSystem::slurm,
                                 .job = request,
                                 .name = "gantry-ab-c1-jobs",
                                 .program = "bin/agent",
                                 .folder = "work/ab/hosts/c1-jobs",
                                 .most = 50,
                                 .rate = 0.5,
                                 .end = "END"});
  ASSERT_EQ(slurm.size(), 7U);
  EXPECT_EQ(slurm[0], "slurm");
  EXPECT_EQ(slurm[2], "50");
  EXPECT_EQ(slurm[3], "0.5");
  EXPECT_THAT(slurm[4], HasSubstr("'--job-name=gantry-ab-c1-jobs-@BATCH@'"));
  EXPECT_THAT(slurm[4], HasSubstr("'--mem=4G' --cpus-per-task=@CORES@ --array=1-@COUNT@ "
                                  "<<'END'\n#!/bin/sh\n"));
  EXPECT_THAT(slurm[4], HasSubstr("\ncd @SCRATCH@ || exit 1\nexec 'bin/agent' job "
                                  "'work/ab/hosts/c1-jobs' @BATCH@ . >>"));
  EXPECT_THAT(slurm[5], Not(HasSubstr("--name")));
  BatchRequest plain;
  const auto sge =
      desk_words({.system = BatchSystem::sge, .job = plain, .name = "n", .end = "END"});
  EXPECT_THAT(sge[4], HasSubstr(" @PE@ -t 1-@COUNT@ <<'END'"));
  EXPECT_THAT(sge[4], testing::StartsWith("if [ @NEW@ -gt 1 ] && 'qsub' '-w' 'v'"));
  plain.directives = {"-pe mine 2"};
  const auto own =
      desk_words({.system = BatchSystem::sge, .job = plain, .name = "n", .end = "END"});
  EXPECT_THAT(own[4], Not(HasSubstr("@PE@")));
  EXPECT_THAT(own[4], Not(HasSubstr("@NEW@")));
}

TEST(BatchSystem, JobsAreCancelledTogether) {
  EXPECT_EQ(cancel_command(BatchSystem::slurm, {"1", "2"}), "scancel '1' '2'");
  EXPECT_EQ(cancel_command(BatchSystem::sge, {"1"}), "qdel '1'");
}

TEST(BatchSystem, APersonIsToldTheReason) {
  EXPECT_EQ(reason_in("sbatch: error: x\nUnable to run job: no queue.\nExiting.\n\n"),
            "Unable to run job: no queue.");
  EXPECT_EQ(reason_in(""), "");
  EXPECT_EQ(reason_in("a\x1b[2Jb\n"), "a[2Jb");
  EXPECT_EQ(reason_in(std::string(10'000, 'x')).size(), 300U);
  const auto is_hopeless = [](std::string_view output) {
    return why_not_taken(output) == SubmitProblem::hopeless;
  };
  EXPECT_TRUE(is_hopeless("sbatch: error: invalid partition specified: nowhere\n"));
  EXPECT_TRUE(is_hopeless("sh: 1: sbatch: not found\n"));
  EXPECT_TRUE(is_hopeless("sbatch: error: Memory specification can not be satisfied\n"));
  EXPECT_TRUE(
      is_hopeless("Unable to run job: Job was rejected because job requests unknown queue "
                  "\"nowhere\".\nExiting.\n"));
}

TEST(BatchSystem, WhatMayPass) {
  // What a login shell says by itself tells nothing of the job.
  for (const std::string noise : {"", "/etc/profile: module: command not found\n"}) {
    for (const char* passing :
         {"sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect "
          "failure)\n",
          "sbatch: error: AssocMaxSubmitJobLimit\nsbatch: error: Batch job submission failed: Job "
          "violates accounting/QOS policy (job submit limit, user's size and/or time limits)\n",
          "Unable to run job: job rejected: only 5 jobs are allowed per user (current job count: "
          "5)\n",
          "error: commlib error: got select error (Connection refused)\n"})
      EXPECT_EQ(why_not_taken(noise + passing), SubmitProblem::passing) << passing;
    EXPECT_EQ(why_not_taken(noise + "sbatch: error: the moon is full\n"), SubmitProblem::unknown);
  }
}

}  // namespace
}  // namespace gantry
