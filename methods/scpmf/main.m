## SCPMF: factors of drugs and diseases, held to the similarities of each kind.
1;

function answer = fit_predict (problem)
  given = problem.inputs;
  [drugs, diseases] = deal (given.drug_similarity, given.disease_similarity);
  if (strcmp (problem.parameters.similarities, "non-negative"))
    drugs = nonnegative_similarity (given.drug_features, drugs);
    diseases = nonnegative_similarity (given.disease_features, diseases);
  endif
  Y = sparse (double (problem.associations));
  answer.scores = SCPMFDR (Y, drugs, diseases, problem.parameters.r);
  if (problem.trace)
    [W0, H0] = starting_factors (size (Y), problem.parameters.r);
    answer.trace = struct ("W0", W0.', "H0", H0.', "pred", answer.scores);
  endif
endfunction

repurposing_run (@fit_predict);
