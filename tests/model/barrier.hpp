// tests/model/barrier.hpp: the asymmetric barrier, as a policy for shipped code.
#pragma once

#include "model/explorer.hpp"

namespace skua_model {

struct barrier {
  static bool heavy() {
    explorer::current().heavy_barrier();
    return true;
  }
  static void light() { explorer::current().light_barrier(); }
};

}  // namespace skua_model
