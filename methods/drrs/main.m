## DRRS: the network of drugs and diseases, completed by singular value thresholding.
1;

function answer = fit_predict (problem)
  chosen = problem.parameters;
  drugs = rows (problem.associations);
  given = problem.inputs;
  [P, known] = block_network (given.drug_similarity, given.disease_similarity, problem.associations);
  tau = chosen.threshold * rows (P);
  delta = chosen.step_size * sqrt (numel (P) / nnz (known));
  X = svt_steps (P, known, tau, delta, chosen.steps);
  ## the lower left block; with features that are not symmetric the upper right block is another, worse answer
  answer.scores = X(drugs+1:end, 1:drugs).';
  answer.iterations = chosen.steps;
  answer.trace = struct ("pred", answer.scores);
endfunction

repurposing_run (@fit_predict);
