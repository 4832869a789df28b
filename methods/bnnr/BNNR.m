## -- [T_recovery, iter] = BNNR (alpha, beta, T, trIndex, tol1, tol2, maxiter, a, b)
##
## Bounded nuclear norm regularisation (Yang, Luo, Li and Wang, 2019): complete the matrix T, known where trIndex is 1,
## by one of low rank with entries between a and b. alpha weighs the known entries, beta is the penalty of the
## augmented Lagrangian. Ends when X changes by no more than tol1 and that change by no more than tol2, both relative,
## or after maxiter iterations. Returns the bounded matrix W and the number of iterations.

function [T_recovery, iter] = BNNR (alpha, beta, T, trIndex, tol1, tol2, maxiter, a, b)
  ## An iteration as printed, where (.)_known is 0 outside trIndex and svt shrinks singular values by 1 / beta:
  ##   Z = (Y + alpha T_known) / beta + X
  ##   W = Z - alpha / (alpha + beta) Z_known, and what is below a or above b is brought there
  ##   X = svt (W - Y / beta)
  ##   Y = Y + beta (X - W)
  ## The multiplier Y is kept as N = -Y / beta: after an iteration, that is what the thresholding took away.
  X = T;
  N = T / -beta;
  if (any (T(! trIndex)))
    T .*= trIndex;
  endif
  norm_X = frobenius (X);
  change = 1;
  ## the original counts so that the last iteration it allows is number maxiter - 1, reported as maxiter
  for iter = [1:maxiter-2, maxiter]
    W = X - N;
    W += (alpha / beta) * T;
    W -= (alpha / (alpha + beta)) * (W .* trIndex);
    W = min (max (W, a), b);
    N += W;
    X_old = X;
    X = svt (N, 1 / beta);
    N -= X;
    X_old -= X;
    change_old = change;
    change = frobenius (X_old) / norm_X;
    norm_X = frobenius (X);
    settled = abs (change - change_old) / max (1, abs (change_old));
    if (! (change > tol1 || settled > tol2))
      break;
    endif
  endfor
  T_recovery = W;
endfunction

function length = frobenius (X)
  length = sqrt (sumsq (X(:)));
endfunction
