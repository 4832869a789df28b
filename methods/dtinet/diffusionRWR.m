## -- Q = diffusionRWR (A, maxiter, restartProb)
##
## Random walk with restart from every node of the network A: how often each node (row) is visited from each (column).
## A node without links in its column gets one to itself. Ends when Q changes by less than 1e-6, or after maxiter steps.

function Q = diffusionRWR (A, maxiter, restartProb)
  ## A step as printed, from Q = I, where columns of P sum to 1:  Q = (1 - restartProb) P Q + restartProb I
  A += diag (sum (A, 1) == 0);
  degree = sum (A, 1).';
  Q = [];
  if (issymmetric (A) && all (degree > 0) && restartProb > 0)
    Q = by_doubling (A, degree, maxiter, restartProb);
  endif
  if (isempty (Q))
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

## P is similar to the symmetric S = D^-1/2 A D^-1/2, and Q goes to R = r (I - (1 - r) S)^-1 so that after m steps it is
## R + F_m with F_m = B^m F_0, B = (1 - r) S: squares of B take it to the last steps at once. All of these commute and are
## symmetric, so that half of each product is enough. Empty where there are too few steps, or weights below zero.
function Q = by_doubling (A, degree, maxiter, r)
  Q = [];
  root = sqrt (degree);
  B = (1 - r) * A ./ (root * root.');
  last = surely_made (B, root, maxiter, r);
  if (last < 5)
    return
  endif
  diagonal = 1:rows (B)+1:numel (B);
  R = -B;
  R(diagonal) += 1;
  [factor, fault] = chol (R);
  if (fault)
    return
  endif
  R = r * chol2inv (factor);
  ## after one step
  F = B - R;
  F(diagonal) += r;
  power = B;
  left = last - 2;
  while (left > 0)
    if (mod (left, 2))
      F = symmetric_product (power, F);
    endif
    left = floor (left / 2);
    if (left > 0)
      power = power * power.';
    endif
  endwhile
  for step = last:maxiter
    before = F;
    F = symmetric_product (B, F);
    if (degree.' * (F - before).^2 * (1 ./ degree) < 1e-12)
      ## the estimate was too high: it may have ended before
      if (step == last && step < maxiter)
        return
      endif
      break;
    endif
  endfor
  Q = root .* (R + F) ./ root.';
endfunction

## The product of two symmetric matrices that commute: what lies above its diagonal is what lies below.
function C = symmetric_product (A, B)
  border = round (linspace (0, rows (A), 5));
  C = zeros (rows (A));
  for block = 1:4
    own = border(block)+1:border(block+1);
    below = border(block)+1:rows (A);
    C(below,own) = A(:,below).' * B(:,own);
    C(own,below) = C(below,own).';
  endfor
endfunction

## The number of the last step that changes Q by 1e-6 and half as much again or more, as all before it do, estimated from
## random columns.
function step = surely_made (B, root, maxiter, r)
  probes = 16;
  X = (2 * (reshape (drand48 (rows (B) * probes), [], probes) > 0.5) - 1) ./ root;
  change = B * X - (1 - r) * X;
  step = 0;
  while (step < maxiter && norm (root .* change, "fro") >= 1.5e-6 * sqrt (probes))
    step += 1;
    change = B * change;
  endwhile
endfunction
