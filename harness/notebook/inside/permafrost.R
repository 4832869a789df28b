# Stands where a method's main.R looks for the SDK: the job is loaded, not done. `problem` becomes what the SDK hands to
# fit_predict for the first inner model.

source("/opt/sdk/permafrost.R")

# source_method() asks how R was started; this R is part of another program
commandArgs <- function(...) "--file=/opt/method/main.R"

.do_job <- permafrost
permafrost <- function(fit_predict, ...) {
  problem <<- callCC(function(keep) .do_job(keep))
  invisible()
}
