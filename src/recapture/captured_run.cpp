// SPDX-License-Identifier: Apache-2.0
#include "recapture/captured_run.hpp"

#include <algorithm>
#include <utility>

#include "base/access.hpp"
#include "base/identify.hpp"
#include "base/report.hpp"
#include "capture/graph_state.hpp"
#include "capture/session.hpp"
#include "model/memory_nodes.hpp"
#include "recapture/choose_engine.hpp"
#include "recapture/sessions.hpp"

// One call of a `captured`: eager, or by the graph of the structure that the body has now.

namespace cugraft {
namespace {

using detail::access;
using clock = std::chrono::steady_clock;

// Counts a step, also one that throws.
class step_timer {
 public:
  explicit step_timer(step_time& time) noexcept : time_(time) {}
  step_timer(const step_timer&) = delete;
  step_timer& operator=(const step_timer&) = delete;
  ~step_timer() {
    ++time_.count;
    time_.total += clock::now() - begun_;
  }

 private:
  step_time& time_;
  clock::time_point begun_ = clock::now();
};

captured_policy checked(captured_policy policy) {
  if (policy.max_executables == 0)
    throw usage_error("captured_policy: max_executables = 0 keeps no graph; keep at least 1");
  if (policy.recapture.compare_only)
    throw usage_error(
        "captured_policy: recapture.compare_only touches nothing, and captured runs what was "
        "captured; leave it out");
  const bool is_compare = policy.retries == 0;
  if (is_compare && (policy.recapture.in_place || policy.recapture.on_native_mismatch))
    throw usage_error(
        "captured_policy: retries = 0 means engine::compare, and recapture.in_place and "
        "on_native_mismatch are of engine::native; allow a retry, or leave them out");
  const bool is_other =
      policy.recapture.with != engine::automatic && policy.recapture.with != engine::compare;
  if (is_compare && is_other)
    throw usage_error("captured_policy: retries = 0 means engine::compare, and recapture.with = " +
                      std::string(to_string(policy.recapture.with)) +
                      " is another: allow a retry, or leave it out");
  return policy;
}

// What a capture into a new graph may take, that a re-capture did not.
bool asks_for_capture(const recapture_failure& failure) noexcept {
  switch (failure.why) {
    case mismatch::rejected:
    case mismatch::capture_invalidated:
    case mismatch::capture_unjoined:
    case mismatch::driver_failure:
      return false;
    default:
      return true;
  }
}

bool is_structural(const recapture_failure& failure) noexcept {
  return failure.why < mismatch::rejected;
}

recapture_failure failure_of(const cuda_error& thrown) {
  if (const auto* const of_capture = dynamic_cast<const capture_error*>(&thrown))
    return of_capture->failure();
  recapture_failure failure;
  failure.why = mismatch::driver_failure;
  failure.code = thrown.code();
  failure.function = thrown.function();
  failure.message = thrown.what();
  return failure;
}

// Of an update that might do all that there is to do.
recapture_failure refused(const exec_update& update) {
  recapture_failure failure;
  failure.why = mismatch::driver_failure;
  if (!update.refused.empty()) {
    failure.code = update.refused.back().code;
    failure.function = update.refused.back().function;
    failure.found = update.refused.back().node;
  }
  failure.message = "the graph was brought up to date, and its executable was refused the change";
  return failure;
}

bool is_rejection(const cuda_error& thrown) noexcept {
  const auto* const failed = dynamic_cast<const capture_error*>(&thrown);
  return failed != nullptr && failed->failure().why == mismatch::rejected;
}

}  // namespace

// A call that is under way: no other begins.
class captured_run::running {
 public:
  explicit running(captured_run& of) : of_(of) {
    if (of.is_running_)
      throw usage_error("captured on " + identify(of.stream_.get()) +
                        " was used in its own body: the body only enqueues work");
    of.is_running_ = true;
  }
  running(const running&) = delete;
  running& operator=(const running&) = delete;
  ~running() { of_.is_running_ = false; }

 private:
  captured_run& of_;
};

captured_run::captured_run(stream_ref stream, std::function<void(graph_builder&)> body,
                           captured_policy policy)
    : stream_(stream),
      body_(std::move(body)),
      policy_(checked(std::move(policy))),
      warm_up_left_(policy_.warm_up_runs) {
  if (!body_) throw usage_error("captured: the body is empty; give a function that enqueues work");
  refuse_legacy(stream_);
}

void captured_run::call() {
  const running guard(*this);
  refuse_if_capturing(stream_, "calling a captured body on it");
  const auto begun = clock::now();
  const std::uint64_t hits_before = stats_.cache_hits;
  ++stats_.calls;
  runs_left_ = std::uint64_t{1} + policy_.retries;
  body_threw_ = false;
  if (stats_.has_given_up) pairs_.clear();
  if (stats_.has_given_up || warm_up_left_ > 0) {
    run_eagerly();
    if (warm_up_left_ > 0) --warm_up_left_;
    return;
  }
  captured_pair* ready = nullptr;
  try {
    ready = &bring_up_to_date();
  } catch (const cuda_error& thrown) {
    if (body_threw_) throw;
    if (is_rejection(thrown)) {
      stats_.last_failure = failure_of(thrown);
      throw;
    }
    note_broken(failure_of(thrown));
    if (runs_left_ == 0) throw;
  }
  if (ready == nullptr) return run_eagerly();
  broken_in_row_ = 0;
  {
    const step_timer timer(stats_.times.launch);
    ready->exec.launch(stream_);
  }
  if (stats_.cache_hits == hits_before) return;
  ++stats_.times.cached_call.count;
  stats_.times.cached_call.total += clock::now() - begun;
}

void captured_run::run_body(graph_builder& builder) {
  --runs_left_;
  ++stats_.body_runs;
  try {
    body_(builder);
  } catch (...) {
    body_threw_ = true;
    throw;
  }
}

void captured_run::run_eagerly() {
  const step_timer timer(stats_.times.eager);
  const auto session =
      std::make_shared<detail::session_state>(stream_, policy_.recapture.mode, nullptr);
  session->begin_eager();
  session->fork_streams() = std::move(fork_streams_);
  ++stats_.eager_runs;
  auto builder = access::make<graph_builder>();
  access::session(builder) = session;
  try {
    run_body(builder);
  } catch (...) {
    session->end_eager(true);
    fork_streams_ = std::move(session->fork_streams());
    throw;
  }
  session->end_eager(false);
  fork_streams_ = std::move(session->fork_streams());
}

// @return the pair of the body's structure, which is as the body is now
captured_pair& captured_run::bring_up_to_date() {
  std::erase_if(pairs_, [](const captured_pair& each) { return each.made.is_lost(); });
  if (pairs_.empty()) return take(capture_anew());
  captured_pair& latest = pairs_.front();
  recapture_aside aside;
  const recapture_result result = recapture(latest, aside);
  if (aside.structure) return take(access::make<graph>(std::move(aside.structure)));
  if (result) {
    update(latest);
    return latest;
  }
  const recapture_failure& failure = result.failure();
  if (!asks_for_capture(failure) || aside.is_broken || runs_left_ == 0)
    throw recapture_error(failure);
  if (!is_structural(failure)) stats_.last_failure = failure;
  return take(capture_anew());
}

// Another structure comes as a graph of its own where the engine captures one. What builders
// allocate keeps its addresses by a re-capture that does not.
recapture_options captured_run::options_for(const graph& made) const {
  recapture_options options = policy_.recapture;
  options.may_rerun_body = false;
  if (policy_.retries == 0) options.with = engine::compare;
  const detail::graph_state& state = *access::state(made);
  const bool keeps_memory = policy_.retries > 0 && model::first_memory_node(state.nodes) &&
                            !model::first_foreign_memory_node(state.nodes);
  options.replace_structure =
      !keeps_memory && engine_of(state, stream_, options) == engine::compare;
  return options;
}

recapture_result captured_run::recapture(captured_pair& pair, recapture_aside& aside) {
  const recapture_options options = options_for(pair.made);
  const step_timer timer(stats_.times.recapture);
  return recapture_beside(
      access::state(pair.made), stream_, [this](graph_builder& builder) { run_body(builder); },
      options, aside);
}

graph captured_run::capture_anew() {
  const step_timer timer(stats_.times.capture);
  return capture(
      stream_, [this](graph_builder& builder) { run_body(builder); }, policy_.recapture.mode);
}

captured_pair& captured_run::take(graph fresh) {
  const structure_fingerprint wanted = fresh.fingerprint();
  const auto known = std::find_if(pairs_.begin(), pairs_.end(), [&](const captured_pair& each) {
    return each.made.fingerprint() == wanted;
  });
  if (known == pairs_.end() || !take_over(*known, fresh)) return add(std::move(fresh), known);
  pairs_.splice(pairs_.begin(), pairs_, known);
  update(pairs_.front());
  return pairs_.front();
}

// @return false where the graph that is there cannot be given what the fresh one does
bool captured_run::take_over(captured_pair& known, const graph& fresh) {
  recapture_options options;
  options.on_mismatch = policy_.recapture.on_mismatch;
  options.attributes = policy_.recapture.attributes;
  try {
    const recapture_result result =
        known.made.try_update_from(access::make<graph>(access::state(fresh)), options);
    if (!result && result.failure().why == mismatch::rejected)
      throw recapture_error(result.failure());
    return static_cast<bool>(result);
  } catch (const usage_error&) {  // it holds what nobody can read back
    return false;
  } catch (const not_implemented_error&) {
    return false;
  }
}

captured_pair& captured_run::add(graph fresh, std::list<captured_pair>::iterator replaced) {
  ++stats_.cache_misses;
  if (replaced != pairs_.end()) evictions_in_row_ = 0;  // its structure was there
  if (policy_.evict_first && replaced == pairs_.end()) evict_beyond(policy_.max_executables - 1);
  std::list<captured_pair> made;
  {
    const step_timer timer(stats_.times.instantiate);
    graph_exec exec = fresh.instantiate(policy_.instantiate);
    made.push_back({std::move(fresh), std::move(exec)});
  }
  ++stats_.captures;
  ++stats_.instantiations;
  if (replaced != pairs_.end()) pairs_.erase(replaced);
  pairs_.splice(pairs_.begin(), made);
  evict_beyond(policy_.max_executables);
  return pairs_.front();
}

// Of a graph that allows one executable the old one goes first.
void captured_run::update(captured_pair& pair) {
  ++stats_.cache_hits;
  ++stats_.recaptures;
  evictions_in_row_ = 0;
  const step_timer timer(stats_.times.update);
  exec_update done = pair.exec.update();
  if (!done) done = pair.exec.update({.destroy_first = true});
  if (!done) throw capture_error(refused(done));
  stats_.patched += done.method == update_method::patched;
  stats_.whole_updates += done.method == update_method::whole;
  stats_.instantiations += done.method == update_method::instantiated;
}

void captured_run::evict_beyond(std::size_t kept) {
  for (; pairs_.size() > kept; pairs_.pop_back()) {
    ++stats_.evictions;
    ++evictions_in_row_;
  }
  const unsigned most = policy_.give_up_after_evictions;
  if (most == 0 || evictions_in_row_ < most || stats_.has_given_up) return;
  give_up(std::to_string(evictions_in_row_) + " structures in a row went from its cache of " +
          std::to_string(policy_.max_executables) + " (" + std::to_string(stats_.cache_misses) +
          " were captured): let the body have fewer structures, or make max_executables greater");
}

void captured_run::note_broken(recapture_failure failure) {
  ++stats_.broken_captures;
  ++broken_in_row_;
  stats_.last_failure = std::move(failure);
  if (policy_.give_up_after == 0 || broken_in_row_ < policy_.give_up_after) return;
  give_up(std::to_string(broken_in_row_) +
          " captures in a row broke: " + stats_.last_failure->message);
}

// One sentence a minute, whatever `reset` brings back.
void captured_run::give_up(const std::string& because) {
  stats_.has_given_up = true;
  const clock::time_point now = clock::now();
  if (warned_ && now - *warned_ < std::chrono::minutes(1)) return;
  warned_ = now;
  report("captured on " + identify(stream_.get()) + " runs its body eagerly from now on, since " +
         because + "; captured::reset lets it try again");
}

captured_stats captured_run::stats() const {
  captured_stats result = stats_;
  result.executables = pairs_.size();
  for (const captured_pair& each : pairs_) {
    const model::graph& nodes = access::state(each.made)->nodes;
    result.nodes += nodes.size();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes.kind(i) == node_kind::kernel) result.bytes += nodes.kernel(i).arguments.size();
      if (const auto* const allocation = nodes.allocation(i)) result.bytes += allocation->bytes;
    }
  }
  return result;
}

void captured_run::reset() {
  const running guard(*this);
  pairs_.clear();
  warm_up_left_ = policy_.warm_up_runs;
  broken_in_row_ = evictions_in_row_ = 0;
  stats_.has_given_up = false;
}

}  // namespace cugraft
