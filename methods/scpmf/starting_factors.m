## -- [W, H] = starting_factors (shape, r)
##
## The factors SCPMF starts from, r x drugs and r x diseases: both are drawn from the same state of the generator, so
## that both take the same numbers, column by column of entities x r.

function [W, H] = starting_factors (shape, r)
  rand ("state", 0);
  W = rand (shape(1), r).';
  rand ("state", 0);
  H = rand (shape(2), r).';
endfunction
