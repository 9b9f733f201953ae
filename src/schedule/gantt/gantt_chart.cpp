#include "schedule/gantt/gantt_chart.hpp"

#include <algorithm>
#include <cassert>

namespace gantry::schedule {

using What = PlannedTransfer::What;

GanttChart::GanttChart(const Situation& situation, const Estimates& estimates,
                       const ChartOptions& options)
    : situation_(&situation), estimates_(&estimates), options_(options) {
  sites_.reserve(situation.sites.size());
  for (const PlanSite& site : situation.sites) {
    assert(site.file_from.size() == situation.files.size());
    sites_.push_back({.inbound = LinkColumn(site.inbound.free_from),
                      .outbound = LinkColumn(site.outbound.free_from),
                      .same_stream = site.same_stream,
                      .last_input = std::max(site.inbound.free_from, 0.0),
                      .file_from = site.file_from});
  }
  for (const SharedFile& file : situation.files) least_input_ = std::min(least_input_, file.bytes);
  for (const TaskClass& task : situation.classes) {
    if (task.private_bytes > 0) least_input_ = std::min(least_input_, task.private_bytes);
    if (task.output_bytes > 0) least_output_ = std::min(least_output_, task.output_bytes);
  }
  host_free_.reserve(situation.hosts.size());
  for (const PlanHost& host : situation.hosts) host_free_.push_back(std::max(host.free_from, 0.0));
}

Span GanttChart::shared_span(std::uint32_t site, Seconds from, double bytes) const {
  const auto end = [&](Seconds start) {
    return start < kInfinite ? estimates_->moved(site, start, bytes, false) : kInfinite;
  };
  return sites_[site].inbound.first_gap(std::max(from, sites_[site].last_input), end);
}

Span GanttChart::private_span(std::uint32_t site, Seconds after_shared, double bytes) const {
  const Site& at = sites_[site];
  const auto end = [&](Seconds start) { return estimates_->moved(site, start, bytes, false); };
  if (options_.private_inputs == PrivateInputs::queued)
    return at.inbound.first_gap(std::max(after_shared, at.last_input), end);
  return {at.private_stream, end(at.private_stream)};
}

Seconds GanttChart::fit_inputs(const TaskClass& task, std::uint32_t site,
                               Seconds& no_transfer_before, Inputs* inputs) const {
  Seconds there = 0;
  Seconds sent = 0;  // the end of the last missing file
  bool missing = false;
  for (const std::uint32_t file : task.files) {
    const Seconds from = sites_[site].file_from[file];
    if (from < kInfinite) {
      there = std::max(there, from);
      continue;
    }
    const Span span =
        shared_span(site, missing ? sent : no_transfer_before, situation_->files[file].bytes);
    if (!missing) no_transfer_before = span.start;
    if (span.end == kInfinite) return kInfinite;
    missing = true;
    sent = span.end;
    if (inputs != nullptr) inputs->shared.emplace_back(file, span);
  }
  there = std::max(there, sent);
  if (task.private_bytes <= 0) return there;
  const Span own = private_span(site, sent, task.private_bytes);
  if (inputs != nullptr) inputs->own = own;
  return std::max(there, own.end);
}

Seconds GanttChart::inputs_there(const TaskClass& task, std::uint32_t site,
                                 Seconds& no_transfer_before) const {
  return fit_inputs(task, site, no_transfer_before, nullptr);
}

Span GanttChart::output_span(const TaskClass& task, std::uint32_t site, Seconds end) const {
  const auto arrives = [&](Seconds start) {
    return estimates_->moved(site, start, task.output_bytes, true);
  };
  if (options_.outputs_in_chart) return sites_[site].homeward().first_gap(end, arrives);
  return {end, arrives(end)};
}

Seconds GanttChart::returned(const TaskClass& task, std::uint32_t site, Seconds end) const {
  if (end == kInfinite || task.output_bytes <= 0) return end;
  return output_span(task, site, end).end;
}

void GanttChart::returned_each(const TaskClass& task, std::uint32_t site,
                               std::span<const Seconds> ends, std::span<Seconds> returned) const {
  if (task.output_bytes <= 0 || !std::ranges::is_sorted(ends)) {
    for (std::size_t i = 0; i < ends.size(); ++i) returned[i] = this->returned(task, site, ends[i]);
    return;
  }
  const auto finite =
      static_cast<std::size_t>(std::ranges::lower_bound(ends, kInfinite) - ends.begin());
  const auto ended = ends.first(finite);
  estimates_->moved_each(site, ended, task.output_bytes, true, returned.first(finite));
  std::ranges::fill(returned.subspan(finite), kInfinite);
  if (!options_.outputs_in_chart) return;
  const auto arrives = [&](Seconds start) {
    return estimates_->moved(site, start, task.output_bytes, true);
  };
  sites_[site].homeward().first_gap_each(ended, arrives, returned.first(finite));
}

Placement GanttChart::fit(std::uint32_t task_class, std::uint32_t host) const {
  const TaskClass& task = situation_->classes[task_class];
  const std::uint32_t site = situation_->hosts[host].site;
  Seconds from_the_beginning = 0;
  const Seconds start = std::max(host_free_[host], inputs_there(task, site, from_the_beginning));
  if (start == kInfinite) return {};
  const Seconds end = estimates_->computed(host, start, task.work);
  return {start, end, returned(task, site, end)};
}

/// Is the gap too short for every input and output?
bool GanttChart::useless(std::uint32_t site, Span gap, bool inputs, bool outputs) const {
  const auto fits = [&](double bytes, bool outbound) {
    return bytes < kInfinite && estimates_->moved(site, gap.start, bytes, outbound) <= gap.end;
  };
  return !(inputs && fits(least_input_, false)) && !(outputs && fits(least_output_, true));
}

void GanttChart::reserve_input(std::uint32_t site, Span span) {
  Site& at = sites_[site];
  at.inbound.reserve(span, [&](Span gap) { return useless(site, gap, true, at.same_stream); });
}

void GanttChart::reserve_output(std::uint32_t site, Span span) {
  Site& at = sites_[site];
  if (at.same_stream) return reserve_input(site, span);
  at.outbound.reserve(span, [&](Span gap) { return useless(site, gap, false, true); });
}

Seconds GanttChart::assign_inputs(const TaskClass& task, std::uint32_t site) {
  Inputs inputs;
  Seconds from_the_beginning = 0;
  const Seconds there = fit_inputs(task, site, from_the_beginning, &inputs);
  Site& at = sites_[site];
  for (const auto& [file, span] : inputs.shared) {
    reserve_input(site, span);
    at.last_input = span.end;
    at.file_from[file] = span.end;
    plan_.transfers.push_back({What::shared_file, file, site, span.start, span.end});
  }
  if (task.private_bytes <= 0) return there;
  const Span own = inputs.own;
  if (options_.private_inputs == PrivateInputs::own_stream) {
    at.private_stream = own.end;
  } else {
    reserve_input(site, own);
    at.last_input = own.end;
  }
  const auto index = static_cast<std::uint32_t>(plan_.tasks.size());
  plan_.transfers.push_back({What::private_inputs, index, site, own.start, own.end});
  return there;
}

Placement GanttChart::assign(std::uint32_t task_class, std::uint32_t host) {
  const TaskClass& task = situation_->classes[task_class];
  const std::uint32_t site = situation_->hosts[host].site;
  const Seconds start = std::max(host_free_[host], assign_inputs(task, site));
  const Seconds end = estimates_->computed(host, start, task.work);
  assert(end < kInfinite);
  Seconds returned = end;
  if (task.output_bytes > 0) {
    const Span span = output_span(task, site, end);
    returned = span.end;
    if (options_.outputs_in_chart) {
      const auto index = static_cast<std::uint32_t>(plan_.tasks.size());
      reserve_output(site, span);
      plan_.transfers.push_back({What::output, index, site, span.start, span.end});
    }
  }
  assert(returned < kInfinite);
  host_free_[host] = end;
  plan_.tasks.push_back({task_class, host, start, end, returned});
  return {start, end, returned};
}

GanttPlan GanttChart::plan() && {
  std::ranges::stable_sort(plan_.transfers, {}, &PlannedTransfer::start);
  return std::move(plan_);
}

}  // namespace gantry::schedule
