## -- [W, iter] = bnnr_plain (alpha, beta, T, trIndex, tol1, tol2, maxiter, a, b)
##
## The algorithm written down line by line from its definition, with whatever singular value decomposition Octave takes
## at the time: what ours is compared with.

function [W, iter] = bnnr_plain (alpha, beta, T, trIndex, tol1, tol2, maxiter, a, b)
  X = T;
  W = X;
  Y = X;
  i = 1;
  stop1 = 1;
  stop2 = 1;
  while (stop1 > tol1 || stop2 > tol2)
    Z = (Y + alpha * (T .* trIndex)) / beta + X;
    W = Z - (alpha / (alpha + beta)) * (Z .* trIndex);
    W(W < a) = a;
    W(W > b) = b;
    [U, S, V] = svd (W - Y / beta, "econ");
    s = max (diag (S) - 1 / beta, 0);
    kept = s > 0;
    X_new = U(:,kept) * diag (s(kept)) * V(:,kept)';
    Y = Y + beta * (X_new - W);
    before = stop1;
    stop1 = norm (X_new - X, "fro") / norm (X, "fro");
    stop2 = abs (stop1 - before) / max (1, abs (before));
    X = X_new;
    i = i + 1;
    if (i < maxiter)
      iter = i - 1;
    else
      iter = maxiter;
      break;
    endif
  endwhile
endfunction
