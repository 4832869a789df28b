## -- recMatrix = SCPMFDR (matDT, drugsim, virussim, r)
##
## Similarity constrained probabilistic matrix factorisation (Meng, Jin, Tang and Xu, 2021): drugs and diseases get r
## factors each, whose products come near the known entries of matDT (drugs x diseases; zero: not known) and whose
## products within one kind come near the similarities drugsim and virussim. Multiplicative updates keep the factors
## from falling below zero as long as nothing given is negative. Returns the products for all pairs.

function recMatrix = SCPMFDR (matDT, drugsim, virussim, r)
  ## sparse: of the products only those at known entries are ever multiplied on
  Y = sparse (matDT);
  B = Y != 0;
  [W, H] = starting_factors (size (Y), r);
  ## in the original's order of operations: where similarities are signed, the last bit of a sum decides
  for k = 1:999
    W .*= (H * Y.' + 0.2 * W * drugsim) ./ (H * ((H.' * W) .* B.') + W + 0.2 * W * W.' * W);
    H .*= (W * Y + 0.2 * H * virussim) ./ (W * ((W.' * H) .* B) + H + 0.2 * H * H.' * H);
  endfor
  recMatrix = W.' * H;
endfunction
