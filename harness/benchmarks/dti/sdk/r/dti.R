# What a method of benchmark `dti` sees of the harness: drug-target pairs come in, a score for each goes out.
#
# A method's main.R ends with dti_run(fit_predict): the generator is seeded, and fit_predict(problem) is called once.
#   problem: list(drugs, targets, nodes, affinity, train = list(pairs, values), test_pairs, inputs, parameters, seed)
#   answer:  list(scores, iterations = NULL)
# Drugs, targets, nodes and relations count from 1. Nodes of the network (inputs$edges: relation, head, tail) are drugs
# first, then targets, then all others.

source(file.path(Sys.getenv("PERMAFROST_SDK", "/opt/sdk"), "permafrost.R"))

dti_run <- function(fit_predict) {
  perform(list(begin = .begin, problem = .problem, keep = .keep, finish = .finish), fit_predict)
}

.begin <- function(job) list(job = job, models = 1L)

.problem <- function(state, model) {
  job <- state$job
  inputs <- lapply(job$inputs, function(input) if (is.list(input)) unlist(input) else input)
  always <- c("sizes", "train_pairs", "train_values", "test_pairs")
  for (name in intersect(names(inputs), c("train_pairs", "test_pairs", "edges"))) inputs[[name]] <- inputs[[name]] + 1L
  list(
    drugs = inputs$sizes[1L], targets = inputs$sizes[2L], nodes = inputs$sizes[3L], affinity = inputs$sizes[4L] == 1L,
    train = list(pairs = inputs$train_pairs, values = inputs$train_values), test_pairs = inputs$test_pairs,
    inputs = inputs[!names(inputs) %in% always], parameters = job$parameters, seed = job$seed
  )
}

.keep <- function(state, model, answer) {
  asked <- nrow(state$job$inputs$test_pairs)
  if (length(answer$scores) != asked) stop(length(answer$scores), " scores for ", asked, " pairs")
  state$scores <- as.numeric(answer$scores)
  state$iterations <- answer$iterations
  state
}

.finish <- function(state) {
  write_npy(file.path(state$job$out, "scores.npy"), state$scores)
  list(iterations = if (is.null(state$iterations)) NULL else I(state$iterations))
}
