// tests/consumer/main.cpp: the program of a user: includes public headers, links skua, runs.
#include <skua/base/check.hpp>
#include <skua/base/work.hpp>

namespace {

struct counted : skua::work {
  counted() : work(count) {}
  static void count(work& self) noexcept { ++static_cast<counted&>(self).runs; }
  int runs = 0;
};

}  // namespace

// Started without arguments, so argc is 1; the compiler cannot know, and so keeps the check.
int main(int argc, char**) {
  counted item;
  item.run(item);
  skua::check(item.runs == argc, "the item ran once");
}
