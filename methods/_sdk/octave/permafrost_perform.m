## -- permafrost_perform (work, fit_predict)
##
## What every method in Octave stands on, whatever its benchmark: the job comes in, the answer goes out. Reading, seeding
## and measuring are done here, once, so that a method holds nothing but its algorithm.
##
##   work:  what the benchmark's own file does, a struct of functions
##     state = begin (job)                     job: inputs, parameters, seed, trace, document (job.json), out (a folder)
##     problem = problem (state, model)        what fit_predict gets; model counts from 0 to state.models - 1
##     state = keep (state, model, answer)     take what is asked for out of an answer
##     report = finish (state)                 write the answer's files; what method.json says beside what is measured
##
## The job is read from $PERMAFROST_IN (/in), the answer written to $PERMAFROST_OUT (/out). A failure is one line on
## the standard error and exit code 1. Under $PERMAFROST_NOTEBOOK nothing is fitted: the first problem becomes `problem`.

function permafrost_perform (work, fit_predict)
  try
    do_job (work, fit_predict);
  catch failure
    where = "";
    if (! isempty (failure.stack))
      where = sprintf (" (%s, line %d)", failure.stack(1).name, failure.stack(1).line);
    endif
    fprintf (stderr, "%s%s\n", strtrim (regexprep (failure.message, "\\s+", " ")), where);
    exit (1);
  end_try_catch
endfunction

function do_job (work, fit_predict)
  job = read_job (setting ("PERMAFROST_IN", "/in"), setting ("PERMAFROST_OUT", "/out"));
  ## the authors' own code, where a person mounts it, goes before ours of the same name
  upstream = getenv ("PERMAFROST_UPSTREAM");
  if (! isempty (upstream))
    addpath (upstream);
  endif
  keep_freed_memory ();
  state = work.begin (job);
  if (! isempty (getenv ("PERMAFROST_NOTEBOOK")))
    assignin ("base", "problem", work.problem (state, 0));
    seed_generators (job);
    return
  endif
  warnings = {};
  for model = 0:state.models-1
    problem = work.problem (state, model);
    seed_generators (job);
    lastwarn ("");
    started = tic ();
    answer = fit_predict (problem);
    fit(model+1) = toc (started);
    started = tic ();
    state = work.keep (state, model, answer);
    predict(model+1) = toc (started);
    warnings{end+1} = lastwarn ();
  endfor
  report = work.finish (state);
  report.protocol = 1;
  ## cells, because a list of one number would be written as a number
  report.seconds = struct ("fit", {num2cell(fit)}, "predict", {num2cell(predict)});
  report.warnings = unique (warnings(! cellfun (@isempty, warnings)));
  used = getrusage ();
  report.cpu_seconds = used.utime.sec + used.stime.sec + 1e-6 * (used.utime.usec + used.stime.usec);
  report.peak_memory_bytes = high_water_mark ();
  report.versions = struct ("octave", OCTAVE_VERSION (), "blas", version ("-blas"), "lapack", version ("-lapack"));
  ## jsonencode writes whole numbers from a million on as fractions, and refuses integer types
  text = regexprep (jsonencode (report), '("peak_memory_bytes":\d+)\.0', "$1");
  ## last, so that a method.json says that everything before it was written
  write_text (fullfile (job.out, "method.json"), [text "\n"]);
endfunction

## What lies in /in: arrays, and cells of values from JSON Lines.
function job = read_job (inward, outward)
  document = read_json (fullfile (inward, "job.json"));
  if (document.protocol != 1)
    error ("permafrost:job", "the job speaks protocol %d, this method speaks 1", document.protocol);
  elseif (! strcmp (document.task, "predict"))
    error ("permafrost:job", "this method has no task '%s'", document.task);
  endif
  inputs = struct ();
  for [described, name] = document.inputs
    path = fullfile (inward, described.file);
    if (regexp (path, '\.jsonl$'))
      inputs.(name) = read_jsonl (path);
    else
      inputs.(name) = read_npy (path);
    endif
  endfor
  job = struct ("document", document, "inputs", inputs, "parameters", document.parameters, "seed", document.seed, ...
                "trace", document.trace, "out", outward);
endfunction

function seed_generators (job)
  seed = job.seed;
  if (isfield (job.parameters, "fit_seed"))
    seed = job.parameters.fit_seed;
  endif
  for generator = {@rand, @randn, @rande, @randg, @randp}
    generator{1} ("twister", seed);
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

function document = read_json (path)
  [stream, reason] = fopen (path, "r");
  if (stream < 0)
    error ("permafrost:job", "%s: %s", path, reason);
  endif
  closing = onCleanup (@() fclose (stream));
  try
    document = jsondecode (fread (stream, Inf, "uint8=>char")', "makeValidName", false);
  catch failure
    error ("permafrost:job", "%s: %s", path, failure.message);
  end_try_catch
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
