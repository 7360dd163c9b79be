package models

// A fit contains the two parameters of a distribution, in hours; for exp, only the first one
// (the mean).
type fit struct{ available, unavailable [2]float64 }

// A site contains the distributions fitted to one recorded system.
type site struct {
	doc                            string
	exp, weibull, lognormal, gamma fit
}

// sites are fits to traces of the Failure Trace Archive: Javadi, Kondo, Iosup, Epema, "The
// Failure Trace Archive: Enabling the comparison of failure measurements and models of
// distributed systems", JPDC 73(8), 2013, as given by the failure models of OpenDC
// (atlarge-research/opendc). The parameters of Weibull and gamma are shape and scale. The
// parameters of the log-normal are the mean and standard deviation of the logarithm of hours.
func sites() map[string]site {
	return map[string]site{
		"nd07cpu": {
			"Notre Dame Condor pool, CPU availability",
			fit{[2]float64{13.73}, [2]float64{4.25}},
			fit{[2]float64{0.45, 4.16}, [2]float64{0.51, 0.74}},
			fit{[2]float64{0.30, 2.20}, [2]float64{-1.02, 1.27}},
			fit{[2]float64{0.30, 46.16}, [2]float64{0.28, 15.07}},
		},
		"microsoft99": {
			"corporate desktops",
			fit{[2]float64{67.01}, [2]float64{16.49}},
			fit{[2]float64{0.55, 35.30}, [2]float64{0.60, 9.34}},
			fit{[2]float64{2.62, 1.84}, [2]float64{1.42, 1.54}},
			fit{[2]float64{0.41, 162.19}, [2]float64{0.46, 35.52}},
		},
		"g5k06": {
			"Grid'5000",
			fit{[2]float64{32.41}, [2]float64{7.41}},
			fit{[2]float64{0.48, 14.37}, [2]float64{0.35, 0.47}},
			fit{[2]float64{1.51, 2.42}, [2]float64{-2.00, 2.20}},
			fit{[2]float64{0.34, 94.35}, [2]float64{0.19, 39.92}},
		},
		"lanl05": {
			"Los Alamos clusters",
			fit{[2]float64{1779.99}, [2]float64{5.92}},
			fit{[2]float64{0.48, 816.60}, [2]float64{0.58, 2.18}},
			fit{[2]float64{5.56, 2.39}, [2]float64{0.05, 1.42}},
			fit{[2]float64{0.35, 5102.71}, [2]float64{0.38, 15.44}},
		},
		"overnet03": {
			"Overnet peers",
			fit{[2]float64{2.29}, [2]float64{12.00}},
			fit{[2]float64{0.85, 2.04}, [2]float64{0.44, 2.98}},
			fit{[2]float64{0.19, 0.98}, [2]float64{0.08, 1.80}},
			fit{[2]float64{0.91, 2.53}, [2]float64{0.29, 41.64}},
		},
		"skype06": {
			"Skype superpeers",
			fit{[2]float64{16.27}, [2]float64{14.31}},
			fit{[2]float64{0.64, 10.86}, [2]float64{0.63, 9.48}},
			fit{[2]float64{1.60, 1.57}, [2]float64{1.40, 1.73}},
			fit{[2]float64{0.53, 30.79}, [2]float64{0.50, 28.53}},
		},
		"pl05": {
			"PlanetLab nodes",
			fit{[2]float64{159.49}, [2]float64{49.61}},
			fit{[2]float64{0.33, 19.35}, [2]float64{0.36, 5.59}},
			fit{[2]float64{1.44, 2.86}, [2]float64{0.40, 2.45}},
			fit{[2]float64{0.20, 788.03}, [2]float64{0.21, 237.65}},
		},
		"ourgrid": {
			// Source: edigley/oursim, OurGridAvailabilityCharacterization. It uses log-normal
			// seconds with mu 7.957307 and 7.242198, converted to hours here. Its cap of one
			// day and its daily cycle are omitted.
			"OurGrid peers",
			fit{}, fit{},
			fit{[2]float64{7.957307 - lnHour, 2.116613}, [2]float64{7.242198 - lnHour, 1.034311}},
			fit{},
		},
	}
}

// lnHour is the logarithm of 3600.
const lnHour = 8.188689124444202
