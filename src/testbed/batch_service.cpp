#include "testbed/batch_service.hpp"

namespace gantry::testbed {

Result<> start_batch(const Ground& ground, const SitePlan& site) {
  switch (site.via) {
    case SiteVia::slurm:
      return start_slurm(ground, site);
    case SiteVia::sge:
      return start_sge(ground, site);
    case SiteVia::ssh:
      break;
  }
  return {};
}

Result<> start_worker(const Ground& ground, const HostPlace& place) {
  if (place.site->via == SiteVia::slurm) TRY(start_slurmd(ground, place));
  if (place.site->via == SiteVia::sge) TRY(start_execd(ground, place));
  return {};
}

}  // namespace gantry::testbed
