# What every method in R stands on, whatever its benchmark: the job comes in, the answer goes out.
#
# A benchmark's own file says what is done with a job, as a list of functions:
#   begin(job): a state                   job: list(document, inputs, parameters, seed, trace, out); state$models counts
#   problem(state, model): what fit_predict gets; model counts from 0
#   keep(state, model, answer): the state with what is asked for of an answer
#   finish(state): writes the answer's files; what method.json says beside what is measured
# Reading, seeding and measuring are done here, once, so that a method holds nothing but its algorithm.

suppressPackageStartupMessages(library(jsonlite))

# Load a file of the method's own folder, or the user's own one of that name ($PERMAFROST_UPSTREAM) in its place.
source_method <- function(name) {
  main <- Sys.getenv("PERMAFROST_NOTEBOOK")
  # in a notebook, R is part of another program
  if (!nzchar(main)) main <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  here <- dirname(main)
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

# The values of a file of JSON Lines.
read_jsonl <- function(path) lapply(readLines(path, encoding = "UTF-8"), fromJSON, simplifyVector = FALSE)

# The same, outwards: one value a line.
write_jsonl <- function(path, values) {
  lines <- vapply(values, function(value) as.character(toJSON(value, auto_unbox = TRUE, digits = NA, null = "null")), "")
  writeLines(enc2utf8(lines), path, useBytes = TRUE)
}

# Arrays for the harness to compare with goldens, name by name.
write_traces <- function(job, arrays) {
  dir.create(file.path(job$out, "trace"), showWarnings = FALSE)
  for (name in names(arrays)) write_npy(file.path(job$out, "trace", paste0(name, ".npy")), arrays[[name]])
}

# Do the job in $PERMAFROST_IN (/in) and write its answer to $PERMAFROST_OUT (/out). Under $PERMAFROST_NOTEBOOK nothing
# is fitted: the first problem becomes `problem`.
perform <- function(work, fit_predict) {
  job <- .read_job(Sys.getenv("PERMAFROST_IN", "/in"), Sys.getenv("PERMAFROST_OUT", "/out"))
  if (nzchar(Sys.getenv("PERMAFROST_NOTEBOOK"))) {
    assign("problem", work$problem(work$begin(job), 0L), envir = globalenv())
    .seed_generator(job)
    return(invisible())
  }
  caught <- character()
  report <- withCallingHandlers(
    .fit_models(job, work, fit_predict),
    warning = function(warning) {
      caught <<- c(caught, conditionMessage(warning))
      invokeRestart("muffleWarning")
    }
  )
  used <- proc.time()
  report$protocol <- 1L
  report$warnings <- I(sort(unique(caught)))
  report$cpu_seconds <- sum(used[c("user.self", "sys.self", "user.child", "sys.child")], na.rm = TRUE)
  report$peak_memory_bytes <- .high_water_mark()
  report$versions <- list(R = paste(R.version$major, R.version$minor, sep = "."))
  # last, so that a method.json says that everything before it was written
  text <- toJSON(report, auto_unbox = TRUE, digits = NA, null = "null", pretty = TRUE)
  writeLines(text, file.path(job$out, "method.json"))
}

# What lies in /in: arrays, and lists of values from JSON Lines.
.read_job <- function(inward, outward) {
  document <- fromJSON(file.path(inward, "job.json"), simplifyVector = FALSE)
  if (document$protocol != 1L) stop("the job speaks protocol ", document$protocol, ", this method speaks 1")
  if (document$task != "predict") stop("this method has no task '", document$task, "'")
  inputs <- lapply(document$inputs, function(described) {
    path <- file.path(inward, described$file)
    if (endsWith(path, ".jsonl")) read_jsonl(path) else read_npy(path)
  })
  list(
    document = document, inputs = inputs, parameters = document$parameters, seed = document$seed,
    trace = isTRUE(document$trace), out = outward
  )
}

.seed_generator <- function(job) set.seed(if (is.null(job$parameters$fit_seed)) job$seed else job$parameters$fit_seed)

# Fit a model for every problem.
.fit_models <- function(job, work, fit_predict) {
  state <- work$begin(job)
  seconds <- list(fit = numeric(state$models), predict = numeric(state$models))
  for (k in seq_len(state$models)) {
    problem <- work$problem(state, k - 1L)
    .seed_generator(job)
    started <- proc.time()[["elapsed"]]
    answer <- fit_predict(problem)
    fitted <- proc.time()[["elapsed"]]
    state <- work$keep(state, k - 1L, answer)
    seconds$fit[k] <- fitted - started
    seconds$predict[k] <- proc.time()[["elapsed"]] - fitted
  }
  c(work$finish(state), list(seconds = lapply(seconds, I)))
}

# VmHWM: the most memory this process held at once.
.high_water_mark <- function() {
  line <- grep("^VmHWM:", readLines("/proc/self/status"), value = TRUE)
  if (length(line) == 0L) return(0)
  1024 * as.numeric(gsub("[^0-9]", "", line))
}
