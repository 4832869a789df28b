## -- [W, H] = IMC (A, X, Y, k, lambda, t, s)
##
## Inductive matrix completion as the library LEML (Yu, Jain, Kar and Dhillon, 2014) has it: A (m x n, sparse) comes near
## X W H' Y', where X (m x f1) and Y (n x f2) are given and W (f1 x k) and H (f2 x k) are found, by t rounds of a minimum
## over W, then over H. The loss is of all cells of A (s = 10: what A does not store is 0) or of stored ones (s = 0);
## lambda weighs the squares of W and H. Returns W as k x f1 and H as k x f2. Starting values are always the same.

function [W, H] = IMC (A, X, Y, k, lambda, t, s)
  ## a block as printed, H held:  0.5 |W|^2 + C |A - X W H' Y'|^2,  C = 1 / lambda
  A = sparse (A);
  start = drand48 (k * (columns (X) + columns (Y)));
  W = reshape (start(1:k*columns(X)), k, []).';
  H = reshape (start(k*columns(X)+1:end), k, []).';
  switch (s)
    case 10
      epsilon = 0.1 * nnz (A) / numel (A);
      problem = struct ("XX", X.' * X, "YY", Y.' * Y, "XAY", X.' * (A * Y), "AA", full (sumsq (nonzeros (A))));
      turned = struct ("XX", problem.YY, "YY", problem.XX, "XAY", problem.XAY.', "AA", problem.AA);
      improved = @of_all_cells;
    case 0
      epsilon = 0.1;
      problem = struct ("A", A, "X", X, "Y", Y);
      turned = struct ("A", A.', "X", Y, "Y", X);
      improved = @of_stored_cells;
    otherwise
      error ("permafrost:imc", "solver %d is none of 0 (stored cells) and 10 (all cells)", s);
  endswitch
  for round = 1:t
    W = improved (problem, W, H, 1 / lambda, epsilon);
    H = improved (turned, H, W, 1 / lambda, epsilon);
  endfor
  W = W.';
  H = H.';
endfunction

## Everything that m and n enter is in XX = X'X, YY = Y'Y and XAY = X'A Y.
function W = of_all_cells (problem, W, H, C, epsilon)
  G = H.' * problem.YY * H;
  B = problem.XAY * H;
  shape = size (W);
  squares = problem.AA;
  XX = problem.XX;
  objective = @(W) 0.5 * sumsq (W(:)) + C * (squares - 2 * dot (W(:), B(:)) + dot ((XX * W)(:), (W * G)(:)));
  gradient = @(W) W + 2 * C * (XX * W * G - B);
  product = @(W, V) V + 2 * C * (XX * V * G);
  W = tron (W, objective, gradient, product, epsilon, 5, 20);
endfunction

function W = of_stored_cells (problem, W, H, C, epsilon)
  [i, j, a] = find (problem.A);
  X = problem.X(i,:);
  YH = (problem.Y * H)(j,:);
  predicted = @(W) sum ((X * W) .* YH, 2);
  objective = @(W) 0.5 * sumsq (W(:)) + C * sumsq (a - predicted (W));
  gradient = @(W) W + 2 * C * (X.' * ((predicted (W) - a) .* YH));
  product = @(W, V) V + 2 * C * (X.' * (predicted (V) .* YH));
  W = tron (W, objective, gradient, product, epsilon, 5, 20);
endfunction
