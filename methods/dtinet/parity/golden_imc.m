## -- traces = golden_imc (arrays)
##
## Inductive matrix completion, and the scores of all pairs.

function traces = golden_imc (arrays)
  traces = each_case (arrays, @completion);
endfunction

function outputs = completion (c)
  [W, H] = IMC (c.A, c.X, c.Y, c.k, c.l, c.t, c.s);
  outputs = struct ("W", W, "H", H, "Z", c.X * W.' * H * c.Y.');
endfunction
