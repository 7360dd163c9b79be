# Writes ks.csv: two-sample Kolmogorov-Smirnov tests by R's own ks.test.
#   Rscript ks.R > ks.csv
# Columns: sizes, whether the p-value is counted exactly, distance, p-value, and
# the values of both samples, separated by blanks.
set.seed(20260101)
cat("n,m,exact,d,p,a,b\n")
one <- function(a, b, exact) {
  t <- ks.test(a, b, exact = exact)
  cat(sprintf("%d,%d,%s,%.15g,%.15g,%s,%s\n", length(a), length(b), tolower(exact),
    t$statistic, t$p.value, paste(sprintf("%.17g", a), collapse = " "), paste(sprintf("%.17g", b), collapse = " ")))
}
for (n in c(1, 2, 5, 10, 30, 60)) for (m in c(1, 3, 10, 25, 80))
  one(rnorm(n), rnorm(m, sample(c(0, 0.3, 1), 1)), TRUE)
for (n in c(5, 40, 100, 150)) for (shift in c(0, 0.1, 0.3, 1))
  one(rexp(n), rexp(100) + shift, FALSE)
for (k in 1:8)                       # with ties
  one(round(rnorm(100), 1), round(rnorm(100, k / 20), 1), FALSE)
for (n in c(3, 8, 20, 50)) for (m in c(4, 10, 60)) # with ties, counted
  one(round(rnorm(n)), round(rnorm(m, 0.5)), TRUE)
