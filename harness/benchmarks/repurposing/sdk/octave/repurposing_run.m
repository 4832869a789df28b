## -- repurposing_run (fit_predict)
##
## What a method of benchmark `repurposing` sees of the harness. A method's main.m ends with
## `repurposing_run (@fit_predict)`. For each inner model, the items that model must not see are hidden, the generators
## are seeded, and `answer = fit_predict (problem)` is called.
##
##   problem: associations, inputs, parameters, seed, model, trace
##   answer:  scores; iterations and trace (a struct of arrays to compare with goldens) where a method has them

function repurposing_run (fit_predict)
  work = struct ("begin", @begin, "problem", @problem_of, "keep", @keep, "finish", @finish);
  permafrost_perform (work, fit_predict);
endfunction

function state = begin (job)
  folds = job.inputs.folds;
  state.job = job;
  state.inputs = rmfield (job.inputs, {"associations", "folds"});
  state.models = max (job.document.inner_folds, 1);
  ## the protocol orders items row by row, Octave stores columns: everything about items is kept transposed
  state.test = folds.' == -1;
  state.predictions = zeros (state.models, nnz (state.test));
  state.validation = zeros (size (folds.'));
  [state.lowest, state.iterations] = deal (zeros (1, state.models));
endfunction

function problem = problem_of (state, model)
  associations = state.job.inputs.associations;
  associations(held_out (state, model)) = 0;
  problem = struct ("associations", associations, "inputs", state.inputs, "parameters", state.job.parameters, ...
                    "seed", state.job.seed, "model", model, "trace", state.job.trace && model == 0);
endfunction

function state = keep (state, model, answer)
  scores = answer.scores.';
  hidden = held_out (state, model).';
  state.predictions(model+1,:) = scores(state.test);
  state.validation(hidden) = scores(hidden);
  state.lowest(model+1) = lowest_of (scores);
  state.iterations(model+1) = field_of (answer, "iterations", NaN);
  if (state.job.trace && model == 0)
    write_traces (state.job, field_of (answer, "trace", struct ()));
  endif
endfunction

function report = finish (state)
  out = state.job.out;
  write_npy (fullfile (out, "predictions.npy"), state.predictions);
  write_npy (fullfile (out, "lowest.npy"), state.lowest, state.models);
  if (state.job.document.inner_folds > 0)
    validation = state.validation(state.job.inputs.folds.' >= 0);
    write_npy (fullfile (out, "validation.npy"), validation, numel (validation));
  endif
  ## cells, because a list of one number would be written as a number
  report.iterations = num2cell (state.iterations);
  if (any (isnan (state.iterations)))
    report.iterations = [];
  endif
endfunction

## What an inner model must not see; without inner folds there is one model, which sees all.
function mask = held_out (state, model)
  mask = state.job.document.inner_folds > 0 & state.job.inputs.folds == model;
endfunction

## The smallest score other than zero: the published scorer replaces zeros by a number made from it.
function value = lowest_of (scores)
  value = min (scores(scores != 0));
  if (isempty (value))
    value = 0;
  endif
endfunction

## A field that need not be there.
function value = field_of (given, name, fallback)
  value = fallback;
  if (isfield (given, name))
    value = given.(name);
  endif
endfunction
