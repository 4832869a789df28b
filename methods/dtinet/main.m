## DTINet: drugs and targets as components of the networks they are in, and a matrix between both that gives bindings.
1;

function answer = fit_predict (problem)
  chosen = problem.parameters;
  drugs = 1:problem.drugs;
  X = features_of (problem, "drug", drugs, chosen.dim_drug);
  Y = features_of (problem, "target", problem.drugs + (1:problem.targets), chosen.dim_target);
  train = problem.train;
  ## zeros vanish, whatever stands for a negative
  A = sparse (train.pairs(:,1), train.pairs(:,2), train.values, problem.drugs, problem.targets);
  [W, H] = IMC (A, X, Y, chosen.k, chosen.lambda, chosen.rounds, chosen.solver);
  answer.scores = sum ((X * W.')(problem.test_pairs(:,1),:) .* (Y * H.')(problem.test_pairs(:,2),:), 2);
  answer.iterations = chosen.rounds;
endfunction

## Components of all networks over one kind of nodes, whose numbers are `own`.
function x = features_of (problem, kind, own, dim)
  chosen = problem.parameters;
  networks = similarity_networks (problem.inputs, own, problem.nodes, chosen.digits);
  given = problem.inputs.([kind "_similarity"]);
  if (! isempty (given))
    networks{end+1} = given;
  endif
  if (isempty (networks))
    error ("dtinet:networks", ["DTINet learns from networks, and this dataset has no relation with a %s at one end " ...
                               "and no %s_similarity; choose a dataset that has either"], kind, kind);
  endif
  x = with_digits (DCA (networks, dim, chosen.restart, chosen.maxiter), chosen.digits);
endfunction

dti_run (@fit_predict);
