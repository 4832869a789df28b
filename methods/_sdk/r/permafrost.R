# What a method in R sees of the harness: the job comes in, the scores go out.
#
# A method's main.R ends with permafrost(fit_predict). For each inner model, permafrost() hides the items that model
# must not see, seeds the generator, calls fit_predict(problem) and keeps the scores the protocol asks for.
#   problem: list(associations, inputs, parameters, seed, model, trace)
#   answer:  list(scores, iterations = NULL, trace = list())
# Reading, writing and measuring happen here, once, so that a method holds nothing but its algorithm.

suppressPackageStartupMessages(library(jsonlite))

# Load a file of the method's own folder, or the user's own one of that name ($PERMAFROST_UPSTREAM) in its place.
source_method <- function(name) {
  here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
  candidates <- file.path(c(Sys.getenv("PERMAFROST_UPSTREAM"), here), name)
  source(candidates[file.exists(candidates)][1L], local = parent.frame())
}

.npy_magic <- as.raw(c(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1L, 0L))
.npy_types <- list(
  "|i1" = list(size = 1L, what = "integer", signed = TRUE),
  "|u1" = list(size = 1L, what = "integer", signed = FALSE),
  "<i4" = list(size = 4L, what = "integer", signed = TRUE),
  "<i8" = list(size = 8L, what = "integer", signed = TRUE),
  "<f4" = list(size = 4L, what = "numeric", signed = TRUE),
  "<f8" = list(size = 8L, what = "numeric", signed = TRUE)
)

# An array of the protocol: one of six types, at most two dimensions, stored row by row.
# A matrix for two dimensions, a vector for one, a number for none.
read_npy <- function(path) {
  connection <- file(path, "rb")
  on.exit(close(connection))
  magic <- readBin(connection, "raw", 8L)
  if (!identical(magic, .npy_magic)) stop(path, ": not an .npy file, version 1.0")
  bytes <- readBin(connection, "integer", 1L, size = 2L, signed = FALSE, endian = "little")
  header <- readChar(connection, bytes, useBytes = TRUE)
  part <- function(pattern) regmatches(header, regexec(pattern, header))[[1L]][2L]
  type <- .npy_types[[part("'descr': '([^']*)'")]]
  told <- part("'shape': \\(([^)]*)\\)")
  shape <- as.integer(regmatches(told, gregexpr("[0-9]+", told))[[1L]])
  if (is.null(type) || !identical(part("'fortran_order': (True|False)"), "False") || length(shape) > 2L) {
    stop(path, ": ", trimws(header), " is not part of the protocol")
  }
  count <- prod(shape)
  if (type$size == 8L && type$what == "integer") {
    halves <- matrix(readBin(connection, "integer", 2 * count, size = 4L, endian = "little"), nrow = 2L)
    halves[is.na(halves)] <- -2^31
    values <- halves[2L, ] * 2^32 + halves[1L, ] %% 2^32
    if (any(abs(values) > 2^53)) stop(path, ": a 64-bit integer is too large for R")
  } else {
    values <- readBin(connection, type$what, count, size = type$size, signed = type$signed, endian = "little")
  }
  # R reads the smallest 32-bit integer as NA
  if (type$what == "integer") values[is.na(values)] <- -2^31
  if (length(values) != count) stop(path, ": the file ends before its last number")
  if (length(shape) == 2L) matrix(values, nrow = shape[1L], ncol = shape[2L], byrow = TRUE) else values
}

# The same, outwards. A matrix has two dimensions, a vector one; shape = integer(0) writes a number without any.
write_npy <- function(path, array, descr = if (is.integer(array)) "<i4" else "<f8", shape = NULL) {
  type <- .npy_types[[descr]]
  if (is.null(type)) stop(path, ": ", descr, " is not part of the protocol")
  if (is.null(shape)) shape <- if (is.matrix(array)) dim(array) else length(array)
  values <- if (is.matrix(array)) as.vector(t(array)) else as.vector(array)
  told <- paste(shape, collapse = ", ")
  if (length(shape) == 1L) told <- paste0(told, ",")
  header <- sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, told)
  header <- paste0(header, strrep(" ", (64L - (11L + nchar(header)) %% 64L) %% 64L), "\n")
  connection <- file(path, "wb")
  on.exit(close(connection))
  writeBin(.npy_magic, connection)
  writeBin(nchar(header), connection, size = 2L, endian = "little")
  writeChar(header, connection, eos = NULL, useBytes = TRUE)
  if (type$what == "numeric") {
    writeBin(as.numeric(values), connection, size = type$size, endian = "little")
  } else if (type$size == 8L) {
    low <- values %% 2^32
    halves <- rbind(ifelse(low >= 2^31, low - 2^32, low), floor(values / 2^32))
    halves[halves == -2^31] <- NA
    writeBin(as.integer(halves), connection, size = 4L, endian = "little")
  } else {
    writeBin(as.integer(values), connection, size = type$size, endian = "little")
  }
}

# Do the job in $PERMAFROST_IN (/in) and write its answer to $PERMAFROST_OUT (/out).
permafrost <- function(fit_predict, ...) {
  inward <- Sys.getenv("PERMAFROST_IN", "/in")
  outward <- Sys.getenv("PERMAFROST_OUT", "/out")
  job <- fromJSON(file.path(inward, "job.json"), simplifyVector = FALSE)
  if (job$protocol != 1L) stop("the job speaks protocol ", job$protocol, ", this method speaks 1")
  task <- list(predict = fit_predict, ...)[[job$task]]
  if (is.null(task)) stop("no task is called ", job$task)
  inputs <- lapply(job$inputs, function(told) read_npy(file.path(inward, told$file)))
  caught <- character()
  report <- withCallingHandlers(
    .fit_models(job, task, inputs, outward),
    warning = function(warning) {
      caught <<- c(caught, conditionMessage(warning))
      invokeRestart("muffleWarning")
    }
  )
  used <- proc.time()
  report$warnings <- I(sort(unique(caught)))
  report$cpu_seconds <- sum(used[c("user.self", "sys.self", "user.child", "sys.child")], na.rm = TRUE)
  report$peak_memory_bytes <- .high_water_mark()
  report$versions <- list(R = paste(R.version$major, R.version$minor, sep = "."))
  # last, so that a method.json says that everything before it was written
  text <- toJSON(report, auto_unbox = TRUE, digits = NA, null = "null", pretty = TRUE)
  writeLines(text, file.path(outward, "method.json"))
}

# Fit every inner model and write what the protocol asks of it.
.fit_models <- function(job, task, inputs, outward) {
  associations <- inputs$associations
  folds <- inputs$folds
  inputs$associations <- inputs$folds <- NULL
  models <- max(job$inner_folds, 1L)
  # the protocol orders items row by row, R stores columns: transposed masks put them in order
  in_order <- function(array, mask) t(array)[t(mask)]
  test <- folds == -1L
  predictions <- matrix(0, models, sum(test))
  validation <- array(0, dim(folds))
  lowest <- numeric(models)
  seconds <- list(fit = numeric(models), predict = numeric(models))
  iterations <- vector("list", models)
  seed <- if (is.null(job$parameters$fit_seed)) job$seed else job$parameters$fit_seed
  for (k in seq_len(models)) {
    held_out <- if (job$inner_folds > 0L) folds == k - 1L else array(FALSE, dim(folds))
    masked <- associations
    masked[held_out] <- 0L
    set.seed(seed)
    traced <- isTRUE(job$trace) && k == 1L
    started <- proc.time()[["elapsed"]]
    problem <- list(associations = masked, inputs = inputs, parameters = job$parameters)
    answer <- task(c(problem, seed = job$seed, model = k - 1L, trace = traced))
    fitted <- proc.time()[["elapsed"]]
    if (!identical(dim(answer$scores), dim(folds))) {
      stop("scores of shape ", toString(dim(answer$scores)), " for ", toString(dim(folds)), " drugs and diseases")
    }
    predictions[k, ] <- in_order(answer$scores, test)
    validation[held_out] <- answer$scores[held_out]
    # the smallest score other than zero: the published scorer replaces zeros by a number made from it
    scored <- answer$scores[is.na(answer$scores) | answer$scores != 0]
    lowest[k] <- if (length(scored)) min(scored) else 0
    seconds$fit[k] <- fitted - started
    seconds$predict[k] <- proc.time()[["elapsed"]] - fitted
    if (!is.null(answer$iterations)) iterations[[k]] <- answer$iterations
    if (traced) {
      dir.create(file.path(outward, "trace"), showWarnings = FALSE)
      for (name in names(answer$trace)) {
        write_npy(file.path(outward, "trace", paste0(name, ".npy")), answer$trace[[name]])
      }
    }
  }
  write_npy(file.path(outward, "predictions.npy"), predictions)
  write_npy(file.path(outward, "lowest.npy"), lowest)
  if (job$inner_folds > 0L) write_npy(file.path(outward, "validation.npy"), in_order(validation, folds >= 0L))
  list(
    protocol = 1L,
    seconds = lapply(seconds, I),
    iterations = if (any(vapply(iterations, is.null, TRUE))) NULL else I(unlist(iterations))
  )
}

# VmHWM: the most memory this process held at once.
.high_water_mark <- function() {
  line <- grep("^VmHWM:", readLines("/proc/self/status"), value = TRUE)
  if (length(line) == 0L) return(0)
  1024 * as.numeric(gsub("[^0-9]", "", line))
}
