// tests/coro/clang_forms_test.cpp: ways to write an await that g++ 12 breaks; docs/hazards.md.
#include "coro/forms.hpp"

namespace skua_test {
namespace {

const form forms[] = {
    {"foreign_aggregate_temporary",
     []() -> task<bool> { co_return (co_await aggregate_awaiter{tracked("a")}).name == "a!"; }},
    {"aggregate_argument_braced",
     []() -> task<bool> {
       co_return co_await with_options({.name = tracked("abc"), .port = 1, .host = tracked("h")}) ==
           4;
     }},
    {"capturing_lambda_argument",
     []() -> task<bool> {
       const tracked local("cap");
       co_return co_await with_function([local]() -> task<int> { co_return local.size(); }) == 3;
     }},
    {"capturing_lambda_to_template",
     []() -> task<bool> {
       const tracked local("cap");
       co_return co_await call([local] { return local.size(); }) == 3;
     }},
    {"conditional_operator",
     []() -> task<bool> {
       const bool yes = tracked("x").size() == 1;
       tracked chosen = yes ? co_await make() : tracked("no");
       co_return chosen.name == "mk";
     }},
    {"aggregate_from_await",
     []() -> task<bool> {
       options o{co_await make(), 3, tracked("x")};
       co_return o.name.name == "mk" && o.host.name == "x";
     }},
    {"initializer_list_argument",
     []() -> task<bool> { co_return co_await with_vector({tracked("a"), tracked("b")}) == 2; }},
};

TEST_P(each_form, makes_and_destroys_its_objects_once) {
  makes_and_destroys_its_objects_once();
}

INSTANTIATE_TEST_SUITE_P(forms, each_form, testing::ValuesIn(forms),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace skua_test
