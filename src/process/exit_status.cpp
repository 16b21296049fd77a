// src/process/exit_status.cpp: an end in words.
#include "skua/process/exit_status.hpp"

#include <cstring>

namespace skua::inline SKUA_ABI::process {

std::string exit_status::to_string() const {
  if (signal_ == 0) return "exit code " + std::to_string(code_);
  std::string text = "signal " + std::to_string(signal_);
  if (const char* const name = ::sigabbrev_np(signal_)) text.append(" (SIG").append(name) += ')';
  if (core_dumped_) text += ", core dumped";
  return text;
}

}  // namespace skua::inline SKUA_ABI::process
