## -- traces = golden_sim (arrays)
##
## Jaccard similarities.

function traces = golden_sim (arrays)
  traces = each_case (arrays, @(c) struct ("Sim", jaccard_similarity (c.M)));
endfunction
