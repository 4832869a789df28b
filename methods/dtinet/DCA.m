## -- x = DCA (networks, dim, rsp, maxiter)
##
## Diffusion component analysis: nodes as vectors of dim numbers whose products come near the logarithms of how often
## random walks on all networks (a cell array of matrices over the same nodes) meet. Components fall in weight; the sign
## of each is such that its largest entry is positive.

function x = DCA (networks, dim, rsp, maxiter)
  ## as printed, with all Q side by side:  L = log (Q + 1/n) - log (1/n),  L L' = U S U',  x = U S^1/4
  nodes = rows (networks{1});
  linked = cell2mat (cellfun (@has_links, networks(:).', "UniformOutput", false));
  ## a walk never leaves a node without links: in G it is a number on the diagonal, and a component of its own
  alone = log (nodes + 1)^2;
  some = find (any (linked, 2));
  G = diag (alone * sum (! linked(some,:), 2));
  for number = 1:numel (networks)
    own = linked(some,number);
    A = full (networks{number}(some(own),some(own)));
    L = log (diffusionRWR (A, maxiter, rsp) * nodes + 1);
    G(own,own) += L * L.';
  endfor
  [U, weight] = leading (G, min (dim, numel (some)));
  found = numel (weight);
  others = find (! any (linked, 2));
  weight = [weight; repmat(alone * numel (networks), numel (others), 1)];
  [weight, order] = sort (weight, "descend");
  kept = 1:min (dim, nodes);
  [weight, order] = deal (weight(kept), order(kept));
  x = zeros (nodes, numel (kept));
  in_some = order <= found;
  x(some,in_some) = U(:,order(in_some));
  x(sub2ind (size (x), others(order(! in_some) - found), kept(! in_some).')) = 1;
  [~, largest] = max (abs (x));
  x .*= sign (x(sub2ind (size (x), largest, kept))) .* sqrt (sqrt (weight)).';
endfunction

## Which nodes are linked with any other.
function found = has_links (A)
  links = A != 0;
  links(1:rows(A)+1:end) = false;
  found = any (links, 2) | any (links, 1).';
endfunction

## The eigenvectors of the largest eigenvalues of G, which has none below zero: a few by Lanczos steps, many at once.
function [U, weight] = leading (G, number)
  fault = true;
  if (5 * number <= rows (G))
    [U, weight, fault] = eigs (G, number, "lm", struct ("v0", drand48 (rows (G))));
    weight = abs (diag (weight));
  endif
  if (fault)
    driver = svd_driver ("gesdd");
    back = onCleanup (@() svd_driver (driver));
    [U, weight, ~] = svd (G);
    U = U(:,1:number);
    weight = diag (weight)(1:number);
  endif
endfunction
