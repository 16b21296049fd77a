// tests/compile_fail/control.cpp: the same headers, used rightly; must compile.
#include "skua/base/work.hpp"

skua::work item([](skua::work&) noexcept {});
