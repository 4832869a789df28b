## BNNR: the labels, completed with the similarities of drugs and diseases as one matrix of low rank.
1;

function answer = fit_predict (problem)
  chosen = problem.parameters;
  drugs = rows (problem.associations);
  T = block_matrix (problem.inputs.drug_similarity, problem.inputs.disease_similarity, problem.associations);
  [T_recovery, iterations] = BNNR (chosen.alpha, chosen.beta, T, T != 0, chosen.tol1, chosen.tol2, chosen.maxiter, 0, 1);
  ## the lower left block; the square features are not symmetric, so that the upper right block would be another answer
  answer.scores = T_recovery(drugs+1:end, 1:drugs).';
  answer.iterations = iterations;
  answer.trace = struct ("iterations", int64 (iterations), "pred", answer.scores);
endfunction

repurposing_run (@fit_predict);
