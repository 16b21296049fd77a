// skua/fiber.hpp: all of skua::fiber, which is a library of its own (skua_fiber).
#pragma once

#include "skua/fiber/await.hpp"
#include "skua/fiber/call.hpp"
#include "skua/fiber/cancelled.hpp"
#include "skua/fiber/options.hpp"
#include "skua/fiber/overflow.hpp"
#include "skua/fiber/own_stack.hpp"
#include "skua/fiber/run.hpp"
#include "skua/fiber/spawn.hpp"
#include "skua/fiber/stack_pool.hpp"
#include "skua/fiber/stack_pool_options.hpp"
