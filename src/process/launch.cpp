// src/process/launch.cpp: texts for execve, descriptors for the child, and the start.
#include "process/launch.hpp"

#include "skua/base/error.hpp"
#include "skua/process/spawn_error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string_view>
#include <utility>

namespace skua::inline SKUA_ABI {
namespace {

using process::spawn_error;
using process::spawn_step;
using process::stdio;

constexpr std::size_t in = 0;
constexpr std::size_t out = 1;

std::unexpected<std::error_code> failed(spawn_step at, int number) noexcept {
  return fail(spawn_error(at, number));
}

bool has_zero(std::string_view text) noexcept {
  return text.find('\0') != std::string_view::npos;
}

std::string_view name_in(std::string_view variable) noexcept {
  return variable.substr(0, variable.find('='));
}

/// What is opened for the child lies above the standard streams: there it would be in the way of
/// those that the child inherits, if this process has closed some of its own.
result<unique_fd> above_streams(unique_fd fd) noexcept {
  if (fd.get() > STDERR_FILENO) return fd;
  unique_fd copy(::fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!copy) return failed(spawn_step::streams, errno);
  return copy;
}

spawn_step step_of(process_step at) noexcept {
  switch (at) {
    case process_step::process:
      break;
    case process_step::descriptors:
      return spawn_step::streams;
    case process_step::group:
      return spawn_step::group;
    case process_step::identity:
      return spawn_step::identity;
    case process_step::directory:
      return spawn_step::working_directory;
    case process_step::program:
      return spawn_step::program;
  }
  return spawn_step::process;
}

}  // namespace

// --- texts

result<void> launch::prepare() {
  if (has_zero(of_.program_) || has_zero(of_.directory_) ||
      std::ranges::any_of(of_.arguments_, has_zero))
    return failed(spawn_step::arguments, EINVAL);
  for (const auto& one : of_.streams_)
    if (one && has_zero(one->path())) return failed(spawn_step::streams, EINVAL);
  arguments_.push_back(of_.program_.data());
  for (std::string& one : of_.arguments_) arguments_.push_back(one.data());
  arguments_.push_back(nullptr);
  if (auto done = list_environment(); !done) return done;
  list_candidates();
  return {};
}

result<void> launch::list_environment() {
  if (!of_.env_is_empty_)
    for (char** one = environ; one != nullptr && *one != nullptr; ++one)
      variables_.emplace_back(*one);
  for (const auto& [name, value] : of_.changes_) {
    if (name.empty() || name.find('=') != std::string::npos || has_zero(name) ||
        (value && has_zero(*value)))
      return failed(spawn_step::arguments, EINVAL);
    std::erase_if(variables_, [&name](const std::string& one) { return name_in(one) == name; });
    if (value) variables_.push_back(name + '=' + *value);
  }
  for (std::string& one : variables_) environment_.push_back(one.data());
  environment_.push_back(nullptr);
  return {};
}

std::string launch::search_path() const {
  for (const std::string& one : variables_)
    if (name_in(one) == "PATH") return one.substr(std::string_view("PATH=").size());
  return "/bin:/usr/bin";
}

// An empty part of the path is the working directory, as it has ever been.
void launch::list_candidates() {
  if (of_.program_.find('/') != std::string::npos || of_.program_.empty()) {
    paths_.push_back(of_.program_);
  } else {
    const std::string all = search_path();
    for (std::size_t begin = 0; begin <= all.size();) {
      const std::size_t end = std::min(all.find(':', begin), all.size());
      const std::string directory = all.substr(begin, end - begin);
      paths_.push_back((directory.empty() ? "." : directory) + '/' + of_.program_);
      begin = end + 1;
    }
  }
  for (const std::string& one : paths_) candidates_.push_back(one.c_str());
}

// --- descriptors

stdio::kind launch::kind_of(std::size_t stream) const noexcept {
  const auto& said = of_.streams_[stream];
  return said ? said->which() : usual_[stream];
}

result<void> launch::open_stream(std::size_t stream) {
  const auto& maybe = of_.streams_[stream];
  const stdio* const said = maybe ? &*maybe : nullptr;
  const auto to = static_cast<int>(stream);
  switch (kind_of(stream)) {
    case stdio::kind::inherit:
      return {};
    case stdio::kind::null:
      return open_file(stream, "/dev/null", stream == in ? O_RDONLY : O_WRONLY);
    case stdio::kind::pipe:
      return make_pipe(stream);
    case stdio::kind::read_file:
      return open_file(stream, said->path().c_str(), O_RDONLY);
    case stdio::kind::write_file:
      return open_file(stream, said->path().c_str(), O_WRONLY | O_CREAT | O_TRUNC);
    case stdio::kind::append_file:
      return open_file(stream, said->path().c_str(), O_WRONLY | O_CREAT | O_APPEND);
    case stdio::kind::given:
    case stdio::kind::borrowed:
      if (said->number() < 0) return failed(spawn_step::streams, EBADF);
      descriptors_.push_back({said->number(), to});
      return {};
    case stdio::kind::same_as_out:
      break;
  }
  if (stream <= out) return failed(spawn_step::streams, EINVAL);
  const auto same = std::ranges::find(descriptors_, STDOUT_FILENO, &process_plan::descriptor::to);
  descriptors_.push_back({same == descriptors_.end() ? STDOUT_FILENO : same->from, to});
  return {};
}

result<void> launch::make_pipe(std::size_t stream) {
  std::array<int, 2> both{};
  if (::pipe2(both.data(), O_CLOEXEC) != 0) return failed(spawn_step::streams, errno);
  unique_fd reads(both[0]);
  unique_fd writes(both[1]);
  unique_fd& ours = stream == in ? writes : reads;
  unique_fd& childs = stream == in ? reads : writes;
  result<unique_fd> moved = above_streams(std::move(childs));
  if (!moved) return fail(moved.error());
  result<unique_fd> kept = above_streams(std::move(ours));
  if (!kept) return fail(kept.error());
  opened_[stream] = std::move(*moved);
  ends[stream] = std::move(*kept);
  descriptors_.push_back({opened_[stream].get(), static_cast<int>(stream)});
  return {};
}

result<void> launch::open_file(std::size_t stream, const char* path, int flags) {
  constexpr mode_t mode = 0666;
  unique_fd file(::open(path, flags | O_CLOEXEC | O_NOCTTY, mode));
  if (!file) return failed(spawn_step::streams, errno);
  result<unique_fd> moved = above_streams(std::move(file));
  if (!moved) return fail(moved.error());
  opened_[stream] = std::move(*moved);
  descriptors_.push_back({opened_[stream].get(), static_cast<int>(stream)});
  return {};
}

// --- the start

void launch::fill(process_plan& plan) const noexcept {
  plan.closes_others = !of_.keeps_descriptors_;
  plan.new_session = of_.new_session_;
  plan.group = of_.group_;
  plan.gid = of_.gid_;
  plan.uid = of_.uid_;
  plan.mask = of_.mask_;
  if (of_.groups_)
    plan.groups = std::span<const gid_t>(*of_.groups_);
  else if (of_.uid_ && ::geteuid() == 0)
    plan.groups = std::span<const gid_t>();
  if (!of_.directory_.empty()) plan.directory = of_.directory_.c_str();
  plan.candidates = candidates_;
  plan.arguments = arguments_.data();
  plan.environment = environment_.data();
}

result<void> launch::run() {
  for (std::size_t stream = 0; stream < usual_.size(); ++stream)
    if (auto done = open_stream(stream); !done) return done;
  for (const auto& one : of_.given_) {
    if (!one.fd) return failed(spawn_step::streams, EBADF);
    descriptors_.push_back({one.fd.get(), one.as});
  }
  process_plan plan;
  fill(plan);
  plan.descriptors = descriptors_;
  made = start_process(plan);
  if (made.error != 0) return failed(step_of(made.failed_at), made.error);
  for (auto& one : of_.streams_)
    if (one) one->was_given();
  for (auto& one : of_.given_) one.fd.reset();
  return {};
}

}  // namespace skua::inline SKUA_ABI
