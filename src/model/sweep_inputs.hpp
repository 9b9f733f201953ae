#pragma once
/// The files that a sweep's tasks read: which of them are shared, and how large they are. One rule
/// for runs and for plans. Pure, but for a look at the disk.

#include <string>
#include <vector>

#include "model/sweep.hpp"

namespace gantry {

/// The inputs that several tasks read, by their first use. They are brought to a site once, for all
/// of its tasks; the others are a task's own.
std::vector<std::string> shared_inputs(const Sweep& sweep);

/// The size of a file, or of all files in a folder; 0 where there is nothing that can be read.
double bytes_on_disk(const std::string& path);

}  // namespace gantry
