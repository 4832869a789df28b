## -- traces = golden_drug_dca (arrays)
##
## The published features of drugs, from four networks: all but sim_ddi were read from files of text.

function traces = golden_drug_dca (arrays)
  read = cellfun (@(name) with_digits (arrays.(name), 5), {"disease", "side_effect", "chemical"}, "UniformOutput", false);
  traces.X = DCA ([{arrays.sim_ddi}, read], double (arrays.dim), arrays.rsp, double (arrays.maxiter));
  traces.published = traces.X;
endfunction
