## -- x = DCA (networks, dim, rsp, maxiter)
##
## Diffusion component analysis: nodes as vectors of dim numbers whose products come near the logarithms of how often
## random walks on all networks (a cell array of matrices over the same nodes) meet. Components fall in weight; the sign
## of each is such that its largest entry is positive.

function x = DCA (networks, dim, rsp, maxiter)
  nodes = rows (networks{1});
  ## L L', network by network: what stands beside one another in L is summed
  G = zeros (nodes);
  for network = networks(:).'
    L = log (diffusionRWR (network{1}, maxiter, rsp) * nodes + 1);
    G += L * L.';
  endfor
  [U, weight] = eig (G, "vector");
  [weight, order] = sort (abs (weight), "descend");
  kept = 1:min (dim, nodes);
  x = U(:,order(kept)) .* sqrt (sqrt (weight(kept))).';
  [~, largest] = max (abs (x));
  x .*= sign (x(sub2ind (size (x), largest, kept)) + ! any (x));
endfunction
