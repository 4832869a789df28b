## -- [roc, pr, rocx, rocy, prx, pry] = auc (label, score, pr_thres)
##
## Areas by trapezoids under the ROC and the precision-recall curve, both of which begin at the first item of the
## ranking, as the original's evaluation has them, but for the noise it adds to break ties: here ties keep their order.
## With pr_thres the second curve ends where more than so many positives are found, and its area is divided by the
## recall reached.

function [roc, pr, rocx, rocy, prx, pry] = auc (label, score, pr_thres)
  [~, order] = sort (score(:), "descend");
  label = label(order)(:);
  TP = cumsum (label);
  rocx = cumsum (1 - label) / sum (1 - label);
  rocy = TP / TP(end);
  prx = rocy;
  pry = TP ./ (1:numel (TP)).';
  roc = trapz (rocx, rocy);
  if (nargin < 3)
    pr = trapz (prx, pry);
  else
    kept = TP <= pr_thres;
    pr = trapz (prx(kept), pry(kept)) / prx(kept)(end);
  endif
endfunction
