package main

var studyCommand = group(`study
find settings, and evaluate promises and forecasts

   bourse study tune --configuration pareto-high --maximize efficiency_1 --over admission.cac.guarantee=0.5..0.99/0.01
   bourse study incentives --configuration pareto-high --replications 20`,
	tuneCommand, calibrateCommand, incentivesCommand, forecastCommand, reliabilityCommand, adviseCommand, replayCommand)

var paperCommand = group(`paper
reproduce the papers, and judge their claims

   bourse paper list
   bourse paper claims results/paper --brief`,
	paperListCommand, reproduceCommand, claimsCommand, readingsCommand, table1Command)

var jobCommand = group(`job
submit jobs to a live market, and monitor them

   bourse job submit --work 60 --deadline 120 --budget 0.50 --wait -- ./render frame7
   bourse job status`,
	submitCommand, quoteCommand, statusCommand, logsCommand, fetchCommand, bidCommand, cancelCommand, usageCommand, topCommand, priceCommand)

var scenarioCommand = group(`scenario
write, print and check scenario files`, newScenarioCommand, scenarioShowCommand, scenarioCheckCommand, presetsCommand, policiesCommand, schemaCommand)
