## -- dti_run (fit_predict)
##
## What a method of benchmark `dti` sees of the harness. A method's main.m ends with `dti_run (@fit_predict)`: the
## generators are seeded, and `answer = fit_predict (problem)` is called once.
##
##   problem: drugs, targets, nodes, affinity, train (pairs, values), test_pairs, inputs, parameters, seed
##   answer:  scores, one for each test pair; iterations where a method has them
##
## Drugs, targets, nodes and relations count from 1. Nodes of the network (inputs.edges: relation, head, tail) are drugs
## first, then targets, then all others. A golden case of single steps goes to the function that its task names.

function dti_run (fit_predict)
  if (is_golden_case ())
    replay_golden ();
  else
    work = struct ("begin", @begin, "problem", @problem_of, "keep", @keep, "finish", @finish);
    permafrost_perform (work, fit_predict);
  endif
endfunction

function state = begin (job)
  given = job.inputs;
  inputs = rmfield (given, {"sizes", "train_pairs", "train_values", "test_pairs"});
  if (isfield (inputs, "edges"))
    inputs.edges = double (inputs.edges) + 1;
  endif
  sizes = num2cell (double (given.sizes));
  train = struct ("pairs", double (given.train_pairs) + 1, "values", given.train_values);
  problem = struct ("train", train, "test_pairs", double (given.test_pairs) + 1, "inputs", inputs, ...
                    "parameters", job.parameters, "seed", job.seed);
  [problem.drugs, problem.targets, problem.nodes, problem.affinity] = sizes{:};
  state = struct ("job", job, "models", 1, "problem", problem, "scores", [], "iterations", NaN);
endfunction

function problem = problem_of (state, model)
  problem = state.problem;
endfunction

function state = keep (state, model, answer)
  state.scores = double (answer.scores(:));
  if (numel (state.scores) != rows (state.problem.test_pairs))
    error ("permafrost:scores", "%d scores for %d pairs", numel (state.scores), rows (state.problem.test_pairs));
  endif
  if (isfield (answer, "iterations"))
    state.iterations = answer.iterations;
  endif
endfunction

function report = finish (state)
  write_npy (fullfile (state.job.out, "scores.npy"), state.scores, numel (state.scores));
  ## cells, because a list of one number would be written as a number
  report.iterations = num2cell (state.iterations);
  if (isnan (state.iterations))
    report.iterations = [];
  endif
endfunction

function golden = is_golden_case ()
  golden = ! strcmp (read_document ().task, "predict");
endfunction

function document = read_document ()
  document = jsondecode (fileread (fullfile (folder_of ("PERMAFROST_IN", "/in"), "job.json")), "makeValidName", false);
endfunction

## The arrays of the case come in, those to compare go out.
function replay_golden ()
  ## in no image: `harness parity` mounts what replays golden cases
  addpath ("/opt/parity");
  document = read_document ();
  for [described, name] = document.inputs
    if (regexp (described.file, '\.npy$'))
      arrays.(name) = read_npy (fullfile (folder_of ("PERMAFROST_IN", "/in"), described.file));
    endif
  endfor
  started = tic ();
  outward = folder_of ("PERMAFROST_OUT", "/out");
  write_traces (struct ("out", outward), feval (document.task, arrays));
  report = struct ("protocol", 1, "seconds", struct ("fit", {{toc(started)}}, "predict", {{}}));
  write_text (fullfile (outward, "method.json"), [jsonencode(report) "\n"]);
endfunction

function path = folder_of (variable, fallback)
  path = getenv (variable);
  if (isempty (path))
    path = fallback;
  endif
endfunction
