# What a method of benchmark `repurposing` sees of the harness: labels of pairs come in, scores of all pairs go out.
#
# A method's main.R ends with repurposing_run(fit_predict). For each inner model the items that it must not see are
# hidden, the generator is seeded, and fit_predict(problem) is called.
#   problem: list(associations, inputs, parameters, seed, model, trace)
#   answer:  list(scores, iterations = NULL, trace = list())

source(file.path(Sys.getenv("PERMAFROST_SDK", "/opt/sdk"), "permafrost.R"))

repurposing_run <- function(fit_predict) {
  perform(list(begin = .begin, problem = .problem, keep = .keep, finish = .finish), fit_predict)
}

.begin <- function(job) {
  folds <- job$inputs$folds
  models <- max(job$document$inner_folds, 1L)
  list(
    job = job,
    models = models,
    predictions = matrix(0, models, sum(folds == -1L)),
    validation = array(0, dim(folds)),
    lowest = numeric(models),
    iterations = vector("list", models)
  )
}

.problem <- function(state, model) {
  job <- state$job
  associations <- job$inputs$associations
  associations[.held_out(job, model)] <- 0L
  inputs <- job$inputs[!names(job$inputs) %in% c("associations", "folds")]
  list(
    associations = associations, inputs = inputs, parameters = job$parameters, seed = job$seed, model = model,
    trace = job$trace && model == 0L
  )
}

.keep <- function(state, model, answer) {
  job <- state$job
  scores <- answer$scores
  if (!identical(dim(scores), dim(job$inputs$folds))) {
    stop("scores of shape ", toString(dim(scores)), " for ", toString(dim(job$inputs$folds)), " drugs and diseases")
  }
  held_out <- .held_out(job, model)
  state$predictions[model + 1L, ] <- .in_order(scores, job$inputs$folds == -1L)
  state$validation[held_out] <- scores[held_out]
  # the smallest score other than zero: the published scorer replaces zeros by a number made from it
  scored <- scores[is.na(scores) | scores != 0]
  state$lowest[model + 1L] <- if (length(scored)) min(scored) else 0
  if (!is.null(answer$iterations)) state$iterations[[model + 1L]] <- answer$iterations
  if (job$trace && model == 0L) write_traces(job, answer$trace)
  state
}

.finish <- function(state) {
  job <- state$job
  write_npy(file.path(job$out, "predictions.npy"), state$predictions)
  write_npy(file.path(job$out, "lowest.npy"), state$lowest)
  if (job$document$inner_folds > 0L) {
    write_npy(file.path(job$out, "validation.npy"), .in_order(state$validation, job$inputs$folds >= 0L))
  }
  list(iterations = if (any(vapply(state$iterations, is.null, TRUE))) NULL else I(unlist(state$iterations)))
}

# What an inner model must not see; without inner folds there is one model, which sees all.
.held_out <- function(job, model) job$document$inner_folds > 0L & job$inputs$folds == model

# the protocol orders items row by row, R stores columns: transposed masks put them in order
.in_order <- function(array, mask) t(array)[t(mask)]
