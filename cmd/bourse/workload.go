package main

var workloadCommand = group(`workload
read, describe, fit and generate workloads

A log is a file in the Standard Workload Format, plain or gzip. A plan is a CSV file
with jobs that an experiment can run unchanged. A model draws plans.`, describeCommand, fitCommand, compareCommand, generateCommand, convertCommand,
	scheduleCommand, filtersCommand)
