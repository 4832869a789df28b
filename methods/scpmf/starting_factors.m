## -- [W, H] = starting_factors (shape, r)
##
## The factors SCPMF starts from, r x drugs and r x diseases: both are drawn from the same state of the generator, so
## that the numbers of the larger kind begin with those of the smaller one. The generator is left in that state's wake.

function [W, H] = starting_factors (shape, r)
  rand ("state", 0);
  W = rand (shape(1), r).';
  rand ("state", 0);
  H = rand (shape(2), r).';
endfunction
