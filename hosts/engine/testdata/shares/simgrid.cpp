// Runs a workload file of this folder in SimGrid 3.32, on hosts of capacity 1.0 without a
// limit for a task (the files B, BO and E). It prints the completion time of each job, and
// to standard error the processor time of the simulation.
//
//   g++ -O2 -o simgrid simgrid.cpp -lsimgrid
//   zcat B_15_1000.workload.txt.gz > B && ./simgrid B > B.times
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <simgrid/s4u.hpp>
#include <string>
#include <utility>
#include <vector>

namespace sg4 = simgrid::s4u;

struct Job {
  double arrival, work, bid, end;
  int nodes;
};

static std::vector<Job> jobs;
static std::vector<sg4::Host*> hosts;
static std::vector<std::pair<sg4::ExecPtr, Job*>> tasks;

static void submit()
{
  long j = 0;
  for (auto& job : jobs) {
    if (job.arrival > sg4::Engine::get_clock())
      sg4::this_actor::sleep_until(job.arrival);
    for (long k = 0; k < job.nodes; k++) {
      auto task = sg4::Exec::init();
      task->set_flops_amount(job.work);
      task->set_priority(job.bid);
      task->set_host(hosts[(j * 7919 + k * 104729) % hosts.size()]);
      task->start();
      tasks.emplace_back(task, &job);
    }
    j++;
  }
  for (auto& [task, job] : tasks)
    task->wait();
}

int main(int argc, char** argv)
{
  sg4::Engine engine(&argc, argv);
  engine.set_config("surf/precision:1e-12");
  FILE* file = argc > 1 ? fopen(argv[1], "r") : nullptr;
  int n = 0, m = 0;
  if (!file || fscanf(file, "%d %d", &n, &m) != 2)
    return 2;
  for (Job job{}; fscanf(file, "%lf %d %lf %lf", &job.arrival, &job.nodes, &job.work, &job.bid) == 4;)
    jobs.push_back(job);

  auto zone = sg4::create_full_zone("zone");
  for (int i = 0; i < n; i++)
    hosts.push_back(zone->create_host("host" + std::to_string(i), 1.0));
  zone->seal();
  sg4::Actor::create("submit", hosts[0], submit);

  clock_t start = clock();
  engine.run();
  double seconds = double(clock() - start) / CLOCKS_PER_SEC;

  for (auto& [task, job] : tasks)
    job->end = std::max(job->end, task->get_finish_time());
  for (auto& job : jobs)
    printf("%.9f\n", job.end);
  double events = double(jobs.size() + tasks.size());
  fprintf(stderr, "%.0f events in %.3f s of processor time: %.0f per second\n", events, seconds, events / seconds);
}
