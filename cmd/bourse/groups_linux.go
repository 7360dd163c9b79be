package main

var liveCommand = group(`live
run a market of real programs, with hosts and users

   bourse live start
   bourse live serve lab --listen 0.0.0.0:8421 --address 192.0.2.7:8421
   bourse live host invite h01 --dir lab`,
	liveStartCommand, marketServeCommand, hostCommand, userCommand, agentCommand, liveCheckCommand, liveExportCommand, marketRotateCommand)
