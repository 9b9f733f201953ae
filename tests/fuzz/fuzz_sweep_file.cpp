/// Any bytes as a sweep file: an error that says where, or a sweep whose tasks can be made.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "small_sweep.hpp"
#include "spec/sweep_file.hpp"
#include "spec/yaml_tree.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gantry;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // The disk is not what is tested here; an unlucky pattern would walk all of it.
  if (text.find("glob") != std::string_view::npos && text.find('/') != std::string_view::npos)
    return 0;
  const auto root = spec::parse_yaml(text, "fuzz.yaml");
  if (!root) return root.error().message.starts_with("fuzz.yaml:") ? 0 : (std::abort(), 0);
  spec::DataFiles files;
  auto definition = spec::SweepFileReader("fuzz.yaml", "/nonexistent", files).read(*root);
  if (!definition)
    return definition.error().message.starts_with("fuzz.yaml:") ? 0 : (std::abort(), 0);
  if (!is_small(*definition)) return 0;
  const auto sweep = Sweep::build(std::move(*definition));
  if (!sweep) return sweep.error().message.starts_with("fuzz.yaml:") ? 0 : (std::abort(), 0);
  static_cast<void>(sweep->check_inputs());
  walk(*sweep);
  return 0;
}
