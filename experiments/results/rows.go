package results

// OfferTaken is the reason for a job whose user accepted an offer instead of a rejection.
const OfferTaken = "offer taken"

// A Job is the outcome of one job in one replication. A pointer is nil if the column does
// not apply. For example, a rejected job neither starts nor pays.
type Job struct {
	Configuration string   `parquet:"configuration,dict" doc:"name of the configuration, such as pareto-high"`
	Admission     string   `parquet:"admission,dict" doc:"admission policy, such as cac"`
	Replication   int      `parquet:"replication,delta" doc:"number of the replication, from 0"`
	Job           string   `parquet:"job" doc:"name of the job, unique in its replication"`
	User          string   `parquet:"user,dict" doc:"user who submitted the job"`
	Arrival       float64  `parquet:"arrival,split" doc:"time of submission, in s since the origin of the run"`
	Runtime       float64  `parquet:"runtime,split" doc:"runtime if the job has its own processors, s"`
	Estimate      *float64 `parquet:"estimate,optional,split" doc:"runtime as estimated by the user, s; null if all users of the replication know their runtimes"`
	Deadline      *float64 `parquet:"deadline,optional,split" doc:"deadline, in s since the origin of the run; null if no time is promised"`
	Nodes         int      `parquet:"nodes" doc:"number of nodes requested"`
	Value         Money    `parquet:"value,decimal(6:18),delta" doc:"amount offered by the user, $"`
	Bid           *float64 `parquet:"bid,optional,split" doc:"bid for all nodes, $/s: the budget divided by the deadline; null if the job was rejected"`
	Decision      string   `parquet:"decision,dict" doc:"accept, reject or defer"`
	Reason        string   `parquet:"reason,dict" doc:"reason for the decision; offer taken means that the user accepted an offer instead of a rejection"`
	Start         *float64 `parquet:"start,optional,split" doc:"time of the start, in s since the origin of the run; null if the job never started"`
	Finish        *float64 `parquet:"finish,optional,split" doc:"time of the end, in s since the origin of the run; null if the job never started"`
	Share         *float64 `parquet:"share,optional" doc:"CPU seconds that each node received per second, from start to finish; null if the job never ran"`
	Work          float64  `parquet:"work,split" doc:"requested work of all nodes, CPU s"`
	WorkDone      *float64 `parquet:"work_done,optional,split" doc:"work done by the deadline, CPU s; null if the job was rejected"`
	Paid          *Money   `parquet:"paid,optional,decimal(6:18)" doc:"amount paid to hosts, $; null if the job was rejected"`
	Penalty       *Money   `parquet:"penalty,optional,decimal(6:18)" doc:"amount refunded for a broken promise, $; null if the job was rejected"`
	Fulfilled     *bool    `parquet:"fulfilled,optional" doc:"whether the promise was kept; null if the job was rejected"`
	Losses        *int     `parquet:"losses,optional" doc:"number of times that a host left while the job ran on it; null if hosts stay, or if the job was rejected"`
	Wasted        *float64 `parquet:"wasted,optional" doc:"work lost because hosts left, CPU s; null if hosts stay, or if the job was rejected"`
	PenaltyOwed   *Money   `parquet:"penalty_owed,optional,decimal(6:18)" doc:"amount owed for a broken promise beyond the reduction of the price, $; null if the job was rejected, or in results of rules before 2"`
}

// A Price is the mean price of all hosts over one interval.
type Price struct {
	Configuration string  `parquet:"configuration,dict" doc:"name of the configuration, such as pareto-high"`
	Admission     string  `parquet:"admission,dict" doc:"admission policy, such as cac"`
	Replication   int     `parquet:"replication,delta" doc:"number of the replication, from 0"`
	Time          float64 `parquet:"time" doc:"start of the interval, in s since the origin of the run"`
	MeanPrice     float64 `parquet:"mean_price,split" doc:"price, averaged over time and over hosts, $/s"`
}

// A Metric is one metric in one replication.
type Metric struct {
	Configuration string   `parquet:"configuration,dict" doc:"name of the configuration, such as pareto-high"`
	Admission     string   `parquet:"admission,dict" doc:"admission policy, such as cac"`
	Replication   int      `parquet:"replication,delta" doc:"number of the replication, from 0"`
	Metric        string   `parquet:"metric,dict" doc:"name of the metric, such as violations"`
	Value         *float64 `parquet:"value,optional" doc:"value; null if it is undefined for this replication"`
	Trials        *int     `parquet:"trials,optional" doc:"number of requests, contracts or attempts over which the value is a fraction or a mean; null if there are none, or if the value is constant by construction"`
}

// A Summary is one metric over all replications.
type Summary struct {
	Configuration string   `parquet:"configuration" json:"configuration" doc:"name of the configuration, such as pareto-high"`
	Admission     string   `parquet:"admission" json:"admission" doc:"admission policy, such as cac"`
	Metric        string   `parquet:"metric" json:"metric" doc:"name of the metric, such as violations"`
	N             int      `parquet:"n" json:"n" doc:"number of replications in which the value is defined"`
	Mean          *float64 `parquet:"mean,optional" json:"mean" doc:"mean of the value; null if n is 0"`
	SD            *float64 `parquet:"sd,optional" json:"sd" doc:"sample standard deviation; null if n is less than 2"`
	Lo95          *float64 `parquet:"lo95,optional" json:"lo95" doc:"lower end of the mean's 95 % interval; null if n is less than 2, or if all values are equal and are not fractions of trials"`
	Hi95          *float64 `parquet:"hi95,optional" json:"hi95" doc:"upper end of the mean's 95 % interval; null in the same cases as lo95"`
	Paper         *float64 `parquet:"paper,optional" json:"paper" doc:"the paper's number; null if the paper prints none"`
}

// A Point is the efficiency of one admission policy at one alpha.
type Point struct {
	Configuration string   `parquet:"configuration" json:"configuration" doc:"name of the configuration, such as pareto-high"`
	Admission     string   `parquet:"admission" json:"admission" doc:"admission policy, such as cac"`
	Alpha         float64  `parquet:"alpha" json:"alpha" doc:"weight of inelastic utility, in [0,1]"`
	N             int      `parquet:"n" json:"n" doc:"number of replications in which the value is defined"`
	Mean          *float64 `parquet:"mean,optional" json:"mean" doc:"efficiency; null if n is 0"`
	SD            *float64 `parquet:"sd,optional" json:"sd" doc:"sample standard deviation; null if n is less than 2"`
	Lo95          *float64 `parquet:"lo95,optional" json:"lo95" doc:"lower end of the mean's 95 % interval; null if n is less than 2, or if all values are equal"`
	Hi95          *float64 `parquet:"hi95,optional" json:"hi95" doc:"upper end of the mean's 95 % interval; null in the same cases as lo95"`
}
