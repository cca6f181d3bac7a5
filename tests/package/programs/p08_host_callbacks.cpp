// SPDX-License-Identifier: Apache-2.0
// Host callbacks with owners: shared, move-only, plain function with data, functor with ==.
#include <cstdio>
#include <memory>
#include "cugraft/cugraft.hpp"
using namespace cugraft;
struct log_step { int step; void operator()() const { std::printf("%d\n", step); } friend bool operator==(log_step, log_step) = default; };
struct heavy { std::shared_ptr<std::string> text; void operator()() const { std::puts(text->c_str()); } friend bool operator==(const heavy&, const heavy&) = default; };
void c_function(void* p) { ++*static_cast<int*>(p); }
void f(stream_ref s, std::shared_ptr<std::string> text, int* counter) {
  int step = 0;
  const auto body = [&](graph_builder& gb) {
    gb.host_call(log_step{step});                         // changed when step changed
    gb.host_call(heavy{text});                            // unchanged as long as the same owner
    gb.host_call([p = std::make_unique<int>(7)] { std::printf("%d\n", *p); });   // move-only: always a change
    gb.host_call({c_function, counter});
    std::function<void()> old_style = [text] { std::puts(text->c_str()); };
    gb.host_call(old_style); host_call(gb, [] {});
  };
  graph g = capture(s, body); graph_exec e = g.instantiate();
  text = std::make_shared<std::string>("other"); ++step; g.recapture(s, body); e.update(); e.launch(s);
  host_call(s, [] { std::puts("eager, once"); });
}
