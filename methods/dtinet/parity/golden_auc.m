## -- traces = golden_auc (arrays)
##
## Areas under both curves, whole and up to `thres` positives.

function traces = golden_auc (arrays)
  traces = each_case (arrays, @areas);
endfunction

function outputs = areas (c)
  [roc, pr, rocx, rocy, prx, pry] = auc (c.label, c.score);
  [roc_t, pr_t] = auc (c.label, c.score, c.thres);
  outputs = struct ("roc", roc, "pr", pr, "rocx", rocx, "rocy", rocy, "prx", prx, "pry", pry, "roc_t", roc_t, "pr_t", pr_t);
endfunction
