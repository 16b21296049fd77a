// bench/support/paired.hpp: what a number of paired measurements say together.
#pragma once

#include <vector>

struct paired {
  double median = 0;
  /// The true median is above this, with 95 % confidence. Of less than five pairs: the smallest,
  /// with less confidence.
  double low = 0;
};

/// `ratios`: one for each pair of measurements that were made one after the other, at least one.
[[nodiscard]] paired paired_ratio(std::vector<double> ratios);
