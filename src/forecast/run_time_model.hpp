#pragma once
/// What a task takes (time, memory, bytes of output) as a function of its parameters, learnt from
/// those that ended: the regression, of several families, that best predicts what it has not seen;
/// neighbours, where none does; the mean, where nothing does. Values only, no I/O; bounded memory.
/// One thread.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "forecast/parameter_table.hpp"

namespace gantry::forecast {

enum class ModelFamily : std::uint8_t {
  mean,
  neighbours,
  linear,
  polynomial,   ///< of the 2nd degree, products of parameters included
  logarithmic,  ///< linear in the logarithms of parameters
  exponential,  ///< the logarithm of the value is linear in the parameters
  power,        ///< the logarithm of the value is linear in those of parameters
};
[[nodiscard]] std::string_view family_name(ModelFamily family);

class RunTimeModel {
 public:
  /// Further parameters are left out, longer words are cut.
  static constexpr std::size_t kMostFeatures = 16;
  static constexpr std::size_t kMostWord = 64;
  /// Of more tasks so many are kept, each with the same chance.
  static constexpr std::size_t kKept = 512;

  /// Not taken (false): a value that is negative, not finite or beyond 1e100, a number that is not
  /// finite or beyond ±1e50, or another number of parameters than the first had. Fits again when
  /// there are a quarter more than at the last fit.
  bool observe(std::span<const Feature> task, double value);
  /// The same for many, and one fit. REQUIRES: as many values as tasks.
  void observe_all(std::span<const Features> tasks, std::span<const double> values);
  /// All values become so many times as large. REQUIRES: positive.
  void scale(double by);
  /// It counts as one that has seen no more than it keeps: what comes now replaces that soon.
  void age();
  [[nodiscard]] std::uint64_t observations() const { return seen_; }
  /// It is of tasks with so many parameters, or of none yet.
  [[nodiscard]] bool takes(std::size_t parameters) const;
  /// The largest value that is kept; 0 of none.
  [[nodiscard]] double most() const;

  struct Prediction {
    double value = 0;
    double low = 0;  ///< four in five values lie from low to high
    double high = 0;
    ModelFamily family = ModelFamily::mean;
    double stretch = 1;  ///< so many times as wide as among the tasks that are known
    /// As `high`, if the family goes on beyond the parameters that were seen as it is among them.
    double likely_high = 0;
  };
  /// Nothing before the first observation, or for another number of parameters.
  [[nodiscard]] std::optional<Prediction> predict(std::span<const Feature> task) const;
  /// The same without an interval: quicker.
  [[nodiscard]] std::optional<double> expected(std::span<const Feature> task) const;

  /// What predicts; and its mean absolute error on tasks that it has not seen, as part of that of
  /// the mean. 1 for the mean itself.
  [[nodiscard]] ModelFamily family() const;
  [[nodiscard]] double error_of_mean() const;

  /// To keep it in a database: JSON. What was read is as good as what was written.
  [[nodiscard]] std::string to_text() const;
  static Result<RunTimeModel> from_text(std::string_view text);

 private:
  struct Fit;

  void keep(Features task, double value);
  void fit();
  /// How many it will have seen when it is fitted next, if it was fitted now.
  [[nodiscard]] std::uint64_t after_fit() const;

  std::vector<Features> tasks_;
  std::vector<double> values_;
  std::uint64_t seen_ = 0;
  std::uint64_t next_fit_ = 1;
  std::shared_ptr<const Fit> fit_;  ///< copies share it
};

}  // namespace gantry::forecast
