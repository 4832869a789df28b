## -- traces = golden_dca (arrays)
##
## Components of the k networks A1, A2, ...

function traces = golden_dca (arrays)
  traces = each_case (arrays, @components);
endfunction

function outputs = components (c)
  networks = arrayfun (@(number) c.(sprintf ("A%d", number)), 1:c.k, "UniformOutput", false);
  outputs.X = DCA (networks, c.dim, c.rsp, c.maxiter);
endfunction
