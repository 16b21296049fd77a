// tests/coro/forms_test.cpp: ways to write an await that work with every supported compiler.
#include "coro/forms.hpp"
#include "skua/coro/race.hpp"
#include "skua/coro/shielded.hpp"
#include "skua/coro/when_all.hpp"

#include <tuple>

namespace skua_test {
namespace {

const form forms[] = {
    {"leaf_temporary",
     []() -> task<bool> { co_return (co_await ready_leaf(tracked("leaf"))).name == "leaf!"; }},
    {"leaves_in_a_race",
     []() -> task<bool> {
       auto first =
           co_await skua::race(ready_leaf(tracked("leaf")), ready_leaf(tracked("leaf")), make());
       co_return first.name == "leaf!" || first.name == "mk";
     }},
    {"leaves_in_nested_combinators",
     []() -> task<bool> {
       auto both = co_await skua::shielded(
           skua::when_all(skua::race(ready_leaf(tracked("a")), ready_leaf(tracked("a"))),
                          ready_leaf(tracked("b"))));
       co_return std::get<0>(both).name == "a!" && std::get<1>(both).name == "b!";
     }},
    {"foreign_constructed_temporary",
     []() -> task<bool> { co_return (co_await constructed_awaiter(tracked("a"))).name == "a!"; }},
    {"foreign_aggregate_named",
     []() -> task<bool> {
       aggregate_awaiter named{tracked("a")};
       co_return (co_await named).name == "a!";
     }},
    {"argument_temporary",
     []() -> task<bool> { co_return co_await by_value(tracked("abc")) == 3; }},
    {"argument_reference_to_temporary",
     []() -> task<bool> { co_return co_await by_reference(tracked("abc")) == 3; }},
    {"argument_computed",
     []() -> task<bool> {
       const tracked local("zz");
       co_return co_await by_value(tracked(local.name + "1")) == 3;
     }},
    {"argument_awaited", []() -> task<bool> { co_return co_await by_value(co_await make()) == 2; }},
    {"argument_awaited_twice",
     []() -> task<bool> {
       const int sum = co_await by_value(co_await make()) + co_await by_value(co_await make());
       co_return sum == 4;
     }},
    {"aggregate_argument_named",
     []() -> task<bool> {
       options named{.name = tracked("abc"), .port = 1, .host = tracked("h")};
       co_return co_await with_options(std::move(named)) == 4;
     }},
    {"constructed_options_temporary",
     []() -> task<bool> {
       co_return co_await with_constructed_options(constructed_options(tracked("abc"), 1)) == 4;
     }},
    {"constructed_options_braced",
     []() -> task<bool> { co_return co_await with_constructed_options({tracked("abc"), 1}) == 4; }},
    {"initializer_list_named",
     []() -> task<bool> {
       std::vector<tracked> named{tracked("a"), tracked("b")};
       co_return co_await with_vector(std::move(named)) == 2;
     }},
    {"capturing_lambda_named",
     []() -> task<bool> {
       const tracked local("cap");
       auto named = [local]() -> task<int> { co_return local.size(); };
       co_return co_await with_function(named) == 3;
     }},
    {"function_and_arguments",
     []() -> task<bool> {
       const tracked local("cap");
       co_return co_await call([](const tracked& t) { return t.size(); }, local) == 3;
     }},
    {"reference_capture_argument",
     []() -> task<bool> {
       const tracked local("cap");
       co_return co_await call([&local] { return local.size(); }) == 3;
     }},
    {"await_in_two_steps",
     []() -> task<bool> {
       const tracked local("cap");
       auto made = call([local] { return local.size(); });
       co_return co_await std::move(made) == 3;
     }},
    {"conditional_operator_with_temporary",
     []() -> task<bool> {
       const bool yes = tracked("x").size() == 1;
       co_return (yes ? co_await by_value(tracked("abc")) : 0) == 3;
     }},
    {"if_instead_of_conditional",
     []() -> task<bool> {
       const bool yes = tracked("x").size() == 1;
       tracked chosen("no");
       if (yes) chosen = co_await make();
       co_return chosen.name == "mk";
     }},
    {"logical_and",
     []() -> task<bool> {
       const bool yes = tracked("x").size() == 1;
       co_return yes&& co_await by_value(tracked("abc")) == 3;
     }},
    {"logical_or_skips_the_await",
     []() -> task<bool> {
       const bool yes = tracked("x").size() == 1;
       co_return yes || co_await by_value(tracked("abc")) == 9;
     }},
    {"push_back",
     []() -> task<bool> {
       std::vector<tracked> v;
       v.push_back(co_await make());
       v.emplace_back((co_await make()).name);
       co_return v[0].name == "mk" && v[1].name == "mk";
     }},
    {"pair_from_await",
     []() -> task<bool> {
       std::pair<tracked, int> p{tracked("a"), co_await by_value(tracked("abc"))};
       co_return p.first.name == "a" && p.second == 3;
     }},
    {"if_with_initialiser",
     []() -> task<bool> {
       if (tracked x = co_await make(); x.name == "mk") co_return true;
       co_return false;
     }},
    {"switch_on_await",
     []() -> task<bool> {
       switch (co_await by_value(tracked("ab"))) {
         case 2:
           co_return true;
         default:
           co_return false;
       }
     }},
    {"loop_condition",
     []() -> task<bool> {
       int rounds = 0;
       while (co_await by_value(tracked("ab")) == 2 && rounds < 3) ++rounds;
       co_return rounds == 3;
     }},
    {"range_for_over_await",
     []() -> task<bool> {
       auto many = []() -> task<std::vector<tracked>> {
         std::vector<tracked> v;
         v.emplace_back("a");
         v.emplace_back("b");
         co_return v;
       };
       std::string all;
       for (const tracked& one : co_await many()) all += one.name;
       co_return all == "ab";
     }},
    {"structured_binding",
     []() -> task<bool> {
       auto pair = []() -> task<std::pair<tracked, tracked>> {
         co_return std::pair(tracked("a"), tracked("b"));
       };
       auto [first, second] = co_await pair();
       co_return first.name + second.name == "ab";
     }},
    {"member_of_await", []() -> task<bool> { co_return (co_await make()).size() == 2; }},
    {"reference_bound_to_await",
     []() -> task<bool> {
       const tracked& kept = co_await make();
       co_return kept.name == "mk";
     }},
    {"aggregate_after_await",
     []() -> task<bool> {
       tracked name = co_await make();
       options o{std::move(name), 3, tracked("x")};
       co_return o.name.name == "mk" && o.host.name == "x";
     }},
};

TEST_P(each_form, makes_and_destroys_its_objects_once) {
  makes_and_destroys_its_objects_once();
}

INSTANTIATE_TEST_SUITE_P(forms, each_form, testing::ValuesIn(forms),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace skua_test
