#pragma once
/// One fit of a RunTimeModel: chooses among the families by what each predicts for tasks that it
/// has not seen. Immutable.

#include <optional>
#include <span>
#include <vector>

#include "forecast/parameter_table.hpp"
#include "forecast/regression.hpp"
#include "forecast/run_time_model.hpp"

namespace gantry::forecast {

/// Tasks that are known, and what each took.
struct FitTasks {
  std::span<const Features> tasks;
  std::span<const double> values;
};

struct RunTimeModel::Fit {
  /// REQUIRES: as many values as tasks, at least one.
  explicit Fit(const FitTasks& known);

  /// `known` may be others than those of the fit; neighbours are looked for among them.
  [[nodiscard]] Prediction predict(std::span<const Feature> task, const FitTasks& known) const;

  [[nodiscard]] double expected(std::span<const Feature> task, const FitTasks& known) const;

  ModelFamily family = ModelFamily::mean;
  double error_of_mean = 1;

 private:
  /// A family, and how it does.
  struct Candidate {
    ModelFamily family = ModelFamily::mean;
    std::optional<RidgeFit> ridge{};
    double correction = 1;           ///< by which predictions are multiplied
    double error = 0;                ///< mean absolute, of what follows
    std::vector<double> left_out{};  ///< each value, predicted from all others
  };

  [[nodiscard]] Candidate by_mean(const FitTasks& known) const;
  [[nodiscard]] Candidate by_neighbours(const FitTasks& known) const;
  /// The best, and in `all` the best of each family.
  [[nodiscard]] std::optional<Candidate> by_regression(const FitTasks& known,
                                                       std::vector<Candidate>& all) const;
  [[nodiscard]] Candidate by_family(ModelFamily tried, const FitTasks& known, const Table& table,
                                    double ridge) const;
  [[nodiscard]] double near(std::span<const Feature> task, const FitTasks& known,
                            std::size_t except) const;
  /// From what a ridge says to what a task takes.
  [[nodiscard]] double bounded(ModelFamily of, double said) const;
  void choose(Candidate candidate, const FitTasks& known);
  /// Those that do nearly as well as the chosen one, and do not go wild elsewhere.
  void keep_others(std::vector<Candidate> all);
  [[nodiscard]] double said_by(const Candidate& candidate, std::span<const Feature> task) const;
  /// The interval, for a task beyond the parameters that were seen.
  void widen(std::span<const Feature> task, Prediction& prediction) const;

  ParameterTable parameters_;
  Candidate chosen_;
  std::vector<Candidate> others_;
  double mean_ = 0;
  double lowest_ = 0;
  double highest_ = 0;
  bool relative_ = false;  ///< the interval is of ratios, not of differences
  double below_ = 0;       ///< added to the prediction, or multiplied with it: the interval
  double above_ = 0;
};

}  // namespace gantry::forecast
