// tests/coro/clang_forms_test.cpp: ways to write an await that g++ 12 breaks; docs/hazards.md.
#include "coro/forms.hpp"
#include "skua/coro/generator.hpp"

#include <memory>
#include <string>

namespace skua_test {
namespace {

task<bool> give(bool what) {
  co_return what;
}
task<> shout_if_asked(tracked what) {
  if (co_await give(true)) what.name += '!';
}

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
    {"condition_without_a_variable",
     []() -> task<bool> {
       co_await shout_if_asked(tracked("x"));
       co_return true;
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
    {"new_with_await",
     []() -> task<bool> {
       const std::unique_ptr<tracked> made(new tracked(co_await make()));
       co_return made->name == "mk";
     }},
    {"throw_of_await",
     []() -> task<bool> {
       try {
         throw co_await make();
       } catch (const tracked& thrown) {
         co_return thrown.name == "mk";
       }
     }},
    {"conditional_operator_without_await_in_an_arm",
     []() -> task<bool> {
       const std::string chosen =
           co_await by_value(tracked("abc")) == 3 ? std::string("yes") : std::string("no");
       co_return chosen == "yes";
     }},
    {"conditional_operator_in_an_argument",
     []() -> task<bool> {
       const bool yes = tracked("x").size() == 1;
       co_return co_await by_value(yes ? tracked("a") : tracked("bcd")) == 1;
     }},
    {"capturing_lambda_beside_an_await",
     []() -> task<bool> {
       const tracked local("cap");
       co_return [local] { return local.size(); }() + co_await by_value(tracked("a")) == 4;
     }},
    {"array_from_await",
     []() -> task<bool> {
       const tracked both[] = {co_await make(), tracked("b")};
       co_return both[0].name + both[1].name == "mkb";
     }},
    {"co_yield_of_aggregate",
     []() -> task<bool> {
       auto one = []() -> skua::generator<options> {
         co_yield options{.name = tracked("abc"), .port = 1, .host = tracked("h")};
       };
       int seen = 0;
       for (const options& each : one()) seen += each.name.size() + each.port;
       co_return seen == 4;
     }},
};

TEST_P(each_form, makes_and_destroys_its_objects_once) {
  makes_and_destroys_its_objects_once();
}

INSTANTIATE_TEST_SUITE_P(forms, each_form, testing::ValuesIn(forms),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace skua_test
