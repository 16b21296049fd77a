// tests/compile_fail/base_work_without_run_function.cpp: a work item says how it is run.
// expect: no matching (constructor.*skua::work|function.*::work\(\))
#include "skua/base/work.hpp"

skua::work item;
