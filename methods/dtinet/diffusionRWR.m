## -- Q = diffusionRWR (A, maxiter, restartProb)
##
## Random walk with restart from every node of the network A: how often each node (row) is visited from each (column).
## A node without links in its column gets one to itself. Ends when Q changes by less than 1e-6, or after maxiter steps.

function Q = diffusionRWR (A, maxiter, restartProb)
  ## A step as printed, from Q = I, where columns of P sum to 1:  Q = (1 - restartProb) P Q + restartProb I
  A += diag (sum (A, 1) == 0);
  degree = sum (A, 1).';
  if (issymmetric (A) && all (degree > 0) && maxiter > 2)
    Q = by_eigenvalues (A, degree, maxiter, restartProb);
  else
    Q = step_by_step (A ./ degree.', maxiter, restartProb);
  endif
endfunction

function Q = step_by_step (P, maxiter, r)
  restart = eye (rows (P));
  Q = restart;
  for step = 1:maxiter
    before = Q;
    Q = (1 - r) * (P * Q) + r * restart;
    if (norm (Q - before, "fro") < 1e-6)
      break;
    endif
  endfor
endfunction

## After m steps Q is a polynomial of P, and P is similar to the symmetric D^-1/2 A D^-1/2 = V diag(lambda) V': one
## decomposition stands for all the products. Step m + 1 changes Q by (1 - r)^(m+1) (P^m - P^(m+1)); the squares in that
## sum up to g' (V'DV .* V'D^-1V) g with g = lambda^m (1 - lambda).
function Q = by_eigenvalues (A, degree, maxiter, r)
  root = sqrt (degree);
  A ./= root;
  A ./= root.';
  [V, lambda] = eig ((A + A.') / 2, "vector");
  scaled = V .* root;
  inverse = V ./ root;
  weights = (scaled.' * scaled) .* (inverse.' * inverse);
  visited = power = ones (rows (V), 1);
  for step = 1:maxiter
    change = (1 - r)^step * (power .* (1 - lambda));
    visited = (1 - r) * (lambda .* visited) + r;
    power .*= lambda;
    if (change.' * weights * change < 1e-12)
      break;
    endif
  endfor
  Q = (scaled .* visited.') * inverse.';
endfunction
