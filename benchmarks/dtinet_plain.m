## -- varargout = dtinet_plain (step, ...)
##
## DTINet's steps written down line by line: what ours are compared with.
##
##   x = dtinet_plain ("components", networks, dim, rsp, maxiter, @svds or @svd)
##   [W, H] = dtinet_plain ("completion", A, X, Y, k, lambda, t)

function varargout = dtinet_plain (step, varargin)
  switch (step)
    case "components"
      varargout{1} = components (varargin{:});
    case "completion"
      [varargout{1:2}] = completion (varargin{:});
  endswitch
endfunction

function x = components (networks, dim, rsp, maxiter, decomposition)
  n = rows (networks{1});
  Q = [];
  for network = networks
    A = network{1} + diag (sum (network{1}) == 0);
    P = A ./ sum (A);
    walk = eye (n);
    for iteration = 1:maxiter
      before = walk;
      walk = (1 - rsp) * P * walk + rsp * eye (n);
      if (norm (walk - before, "fro") < 1e-6)
        break;
      endif
    endfor
    Q = [Q, walk];
  endfor
  L = log (Q + 1 / n) - log (1 / n);
  if (strcmp (func2str (decomposition), "svds"))
    [U, S, V] = svds (L * L', dim);
  else
    [U, S, V] = svd (L * L');
  endif
  x = U(:,1:dim) * sqrt (sqrt (S(1:dim,1:dim)));
endfunction

## The original's solver of trust regions stands outside; what it asks for is computed here as printed.
function [W, H] = completion (A, X, Y, k, lambda, t)
  start = drand48 (k * (columns (X) + columns (Y)));
  W = reshape (start(1:k*columns(X)), k, [])';
  H = reshape (start(k*columns(X)+1:end), k, [])';
  for round = 1:t
    W = block (A, X, Y * H, W, 1 / lambda);
    H = block (A', Y, X * W, H, 1 / lambda);
  endfor
  W = W';
  H = H';
endfunction

function W = block (A, X, YH, W, C)
  G = YH' * YH;
  loss = @(W) 0.5 * sumsq (W(:)) + C * sumsq ((A - X * W * YH')(:));
  gradient = @(W) W + 2 * C * X' * (X * W * G - A * YH);
  product = @(W, V) V + 2 * C * X' * (X * V * G);
  W = tron (W, loss, gradient, product, 0.1 * nnz (A) / numel (A), 5, 20);
endfunction
