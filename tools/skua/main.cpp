// tools/skua/main.cpp: the command `skua`.
#include "command_line.hpp"

#include <cstdio>
#include <exception>

int main(int count, char** arguments) {
  try {
    return skua_tool::run_command_line(count, arguments);
  } catch (const std::exception& why) {
    std::fprintf(stderr, "skua: %s\n", why.what());
    return 2;
  }
}
