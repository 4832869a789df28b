## -- traces = golden_real_imc (arrays)
##
## A fold of the published data. Its iterations are stopped before they settle, so that rounding grows: the original's
## factors are handed over, for what can be asked of ours as a whole. The objective must be within 0.5 %, and the scores
## of all pairs must correlate by 0.99: bindings changed by one part in 10^15 moved a plain transcription by up to 0.35 %
## and to 0.993.

function traces = golden_real_imc (arrays)
  [X, Y] = deal (arrays.drug_features, arrays.prot_vector_dca_ppi_d100);
  A = sparse (double (arrays.I) + 1, double (arrays.J) + 1, arrays.Ytrain, rows (X), rows (Y));
  [lambda, s] = deal (arrays.lam, double (arrays.s));
  [W, H] = IMC (A, X, Y, double (arrays.k), lambda, double (arrays.t), s);
  Z = X * W.' * H * Y.';
  original = X * arrays.W.' * arrays.H * Y.';
  ours = objective (A, W, H, Z, lambda);
  theirs = objective (A, arrays.W, arrays.H, original, lambda);
  if (! (abs (ours / theirs - 1) <= 5e-3))
    error ("dtinet:parity", "the objective is %.8g, the original's %.8g", ours, theirs);
  elseif (! (corr (Z(:), original(:)) >= 0.99))
    error ("dtinet:parity", "scores of all pairs correlate by %g with the original's", corr (Z(:), original(:)));
  endif
  traces.ypred = Z(double (arrays.test_idx_fortran0) + 1);
  [traces.auroc, traces.aupr] = auc (arrays.Ytest, traces.ypred);
endfunction

function value = objective (A, W, H, Z, lambda)
  value = (sumsq (W(:)) + sumsq (H(:))) / 2 + sumsq ((A - Z)(:)) / lambda;
endfunction
