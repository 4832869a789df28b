## -- permafrost_run (fit_predict)
## -- permafrost_run (fit_predict, task, other, ...)
##
## What a method in Octave sees of the harness: the job comes in, the scores go out. A method's main.m ends with
## `permafrost_run (@fit_predict)`. For each inner model, the items that model must not see are hidden, the generators
## are seeded, and `answer = fit_predict (problem)` is called. Reading, writing and measuring happen here, once, so
## that a method holds nothing but its algorithm.
##
##   problem: associations, inputs, parameters, seed, model, trace
##   answer:  scores; iterations and trace (a struct of arrays to compare with goldens) where a method has them
##
## The job is read from $PERMAFROST_IN (/in), the answer written to $PERMAFROST_OUT (/out). A failure is one line on
## the standard error and exit code 1.

function permafrost_run (varargin)
  try
    run_job (struct ("predict", varargin{:}));
  catch failure
    where = "";
    if (! isempty (failure.stack))
      where = sprintf (" (%s, line %d)", failure.stack(1).name, failure.stack(1).line);
    endif
    fprintf (stderr, "%s%s\n", strtrim (regexprep (failure.message, "\\s+", " ")), where);
    exit (1);
  end_try_catch
endfunction

function run_job (tasks)
  inward = setting ("PERMAFROST_IN", "/in");
  outward = setting ("PERMAFROST_OUT", "/out");
  job = read_job (fullfile (inward, "job.json"));
  if (job.protocol != 1)
    error ("permafrost:job", "the job speaks protocol %d, this method speaks 1", job.protocol);
  elseif (! isfield (tasks, job.task))
    error ("permafrost:job", "this method has no task '%s'", job.task);
  endif
  ## the authors' own code, where a person mounts it, goes before ours of the same name
  upstream = getenv ("PERMAFROST_UPSTREAM");
  if (! isempty (upstream))
    addpath (upstream);
  endif
  keep_freed_memory ();
  inputs = struct ();
  for [told, name] = job.inputs
    inputs.(name) = read_npy (fullfile (inward, told.file));
  endfor
  report = fit_models (job, tasks.(job.task), inputs, outward);
  used = getrusage ();
  report.cpu_seconds = used.utime.sec + used.stime.sec + 1e-6 * (used.utime.usec + used.stime.usec);
  report.peak_memory_bytes = high_water_mark ();
  report.versions = struct ("octave", OCTAVE_VERSION (), "blas", version ("-blas"), "lapack", version ("-lapack"));
  ## jsonencode writes whole numbers from a million on as fractions, and refuses integer types
  text = regexprep (jsonencode (report), '("peak_memory_bytes":\d+)\.0', "$1");
  ## last, so that a method.json says that everything before it was written
  write_text (fullfile (outward, "method.json"), text);
endfunction

## Fit every inner model and write what the protocol asks of it.
function report = fit_models (job, fit_predict, inputs, outward)
  associations = inputs.associations;
  folds = inputs.folds;
  inputs = rmfield (inputs, {"associations", "folds"});
  models = max (job.inner_folds, 1);
  ## the protocol orders items row by row, Octave stores columns: everything about items is kept transposed
  test = folds.' == -1;
  predictions = zeros (models, nnz (test));
  validation = zeros (size (folds.'));
  [fit, predict, iterations, lowest] = deal (zeros (1, models));
  warnings = {};
  for model = 0:models-1
    held_out = job.inner_folds > 0 & folds == model;
    masked = associations;
    masked(held_out) = 0;
    seed_generators (setting_of (job.parameters, "fit_seed", job.seed));
    lastwarn ("");
    traced = job.trace && model == 0;
    started = tic ();
    answer = fit_predict (struct ("associations", masked, "inputs", inputs, "parameters", job.parameters,
                                  "seed", job.seed, "model", model, "trace", traced));
    fit(model+1) = toc (started);
    started = tic ();
    scores = answer.scores.';
    predictions(model+1,:) = scores(test);
    held_out = held_out.';
    validation(held_out) = scores(held_out);
    lowest(model+1) = lowest_of (scores);
    predict(model+1) = toc (started);
    iterations(model+1) = setting_of (answer, "iterations", NaN);
    warnings{end+1} = lastwarn ();
    if (traced)
      write_trace (outward, setting_of (answer, "trace", struct ()));
    endif
  endfor
  write_npy (fullfile (outward, "predictions.npy"), predictions);
  write_npy (fullfile (outward, "lowest.npy"), lowest, models);
  if (job.inner_folds > 0)
    validation = validation(folds.' >= 0);
    write_npy (fullfile (outward, "validation.npy"), validation, numel (validation));
  endif
  ## cells, because a list of one number would be written as a number
  report.protocol = 1;
  report.seconds = struct ("fit", {num2cell(fit)}, "predict", {num2cell(predict)});
  report.iterations = num2cell (iterations);
  if (any (isnan (iterations)))
    report.iterations = [];
  endif
  report.warnings = unique (warnings(! cellfun (@isempty, warnings)));
endfunction

## The smallest score other than zero: the published scorer replaces zeros by a number made from it.
function value = lowest_of (scores)
  value = min (scores(scores != 0));
  if (isempty (value))
    value = 0;
  endif
endfunction

## Scalars are written without dimensions, columns with one, all else with two.
function write_trace (outward, trace)
  folder = fullfile (outward, "trace");
  if (! isfolder (folder))
    mkdir (folder);
  endif
  for [array, name] = trace
    shape = size (array);
    if (isscalar (array))
      shape = [];
    elseif (iscolumn (array))
      shape = numel (array);
    endif
    write_npy (fullfile (folder, [name ".npy"]), array, shape);
  endfor
endfunction

## The C library gives blocks back to the system as soon as they are free, and matrices of every iteration are paid for
## again in page faults, unless it has once seen a block of nearly 32 MiB come and go. fread takes a block of the size it
## is asked to read; where there is nothing to read, none of it is touched.
function keep_freed_memory ()
  nothing = fopen ("/dev/null");
  fread (nothing, 32e6, "uint8=>uint8");
  fclose (nothing);
endfunction

function seed_generators (seed)
  for generator = {@rand, @randn, @rande, @randg, @randp}
    generator{1} ("twister", seed);
  endfor
endfunction

function job = read_job (path)
  [stream, reason] = fopen (path, "r");
  if (stream < 0)
    error ("permafrost:job", "%s: %s", path, reason);
  endif
  closing = onCleanup (@() fclose (stream));
  try
    job = jsondecode (fread (stream, Inf, "uint8=>char")', "makeValidName", false);
  catch failure
    error ("permafrost:job", "%s: %s", path, failure.message);
  end_try_catch
endfunction

function write_text (path, text)
  [stream, reason] = fopen (path, "w");
  if (stream < 0)
    error ("permafrost:out", "%s: %s", path, reason);
  endif
  closing = onCleanup (@() fclose (stream));
  fprintf (stream, "%s\n", text);
endfunction

## VmHWM: the most memory this process held at once.
function bytes = high_water_mark ()
  kibibytes = regexp (fileread ("/proc/self/status"), "VmHWM:\\s*(\\d+)", "tokens", "once");
  bytes = 0;
  if (! isempty (kibibytes))
    bytes = 1024 * str2double (kibibytes{1});
  endif
endfunction

## The environment variable `name`, or `fallback`.
function text = setting (name, fallback)
  text = getenv (name);
  if (isempty (text))
    text = fallback;
  endif
endfunction

## A field that need not be there.
function value = setting_of (given, name, fallback)
  value = fallback;
  if (isfield (given, name))
    value = given.(name);
  endif
endfunction
