#pragma once
/// Several lambdas as one visitor of a variant.

namespace gantry {

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

}  // namespace gantry
