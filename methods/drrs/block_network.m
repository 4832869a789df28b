## -- [P, known] = block_network (S, D, A)
##
## The heterogeneous network as one matrix, drugs first: drug similarities S, disease similarities D, and associations
## A (drugs x diseases) at both mirror positions. Known are all similarities, zeros too, and the positive associations;
## P is 0 elsewhere.

function [P, known] = block_network (S, D, A)
  positive = A > 0;
  P = [S, positive; positive.', D];
  known = [true(size (S)), positive; positive.', true(size (D))];
endfunction
