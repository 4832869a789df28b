## -- traces = golden_rwr (arrays)
##
## Random walks with restart.

function traces = golden_rwr (arrays)
  traces = each_case (arrays, @(c) struct ("Q", diffusionRWR (c.A, c.maxiter, c.rsp)));
endfunction
