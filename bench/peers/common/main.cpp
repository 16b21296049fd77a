// bench/peers/common/main.cpp: the command line of a contestant that is written in C++.
#include "common/protocol.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

void read_flag(peers::request& asked, std::string_view flag, const std::string& value) {
  if (flag == "--workers")
    asked.workers = std::stoul(value);
  else if (flag == "--scale")
    asked.scale = std::stod(value);
  else if (flag == "--order")
    asked.order = value;
  else if (flag == "--buffer")
    asked.buffer = std::stoul(value);
  else if (flag == "--hog")
    asked.hog = value == "1";
  else if (flag == "--port")
    asked.port = static_cast<unsigned>(std::stoul(value));
  else if (flag == "--path")
    asked.path = value;
  else
    throw std::invalid_argument("unknown flag " + std::string(flag));
}

peers::request read_command_line(int count, char** words) {
  if (count < 2 || count % 2 != 0)
    throw std::invalid_argument("usage: QUESTION --workers N [--scale K] (or: list)");
  peers::request asked;
  asked.question = words[1];
  for (int i = 2; i < count; i += 2) read_flag(asked, words[i], words[i + 1]);
  return asked;
}

// PEER_NAME, PEER_VERSION and PEER_FLAGS come from CMake.
void print(const peers::request& asked, const peers::answer& got) {
  std::printf(
      "{\"question\": \"%s\", \"runtime\": \"%s\", \"version\": \"%s\", \"flags\": \"%s\", "
      "\"workers\": %zu, \"unit\": \"%s\", \"value\": %.6g, \"operations\": %llu}\n",
      asked.question.c_str(), PEER_NAME, PEER_VERSION, PEER_FLAGS, asked.workers, got.unit.c_str(),
      got.value, static_cast<unsigned long long>(got.operations));
}

int answer_it(const peers::request& asked) {
  const auto all = peers::all_questions();
  for (const peers::question& one : all) {
    if (asked.question == "list") std::printf("%s\n", one.name.c_str());
    if (one.name != asked.question) continue;
    print(asked, one.ask(asked));
    return 0;
  }
  if (asked.question == "list") return 0;
  std::fprintf(stderr, PEER_NAME ": no question '%s'\n", asked.question.c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return answer_it(read_command_line(argc, argv));
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, PEER_NAME ": %s\n", wrong.what());
    return 2;
  }
}
