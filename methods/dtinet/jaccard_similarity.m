## -- S = jaccard_similarity (M)
##
## Jaccard similarities of the rows of an association matrix: of the places where a row or the other is not zero, the
## share in which both hold the same value. Rows without anything are like nothing but themselves.

function S = jaccard_similarity (M)
  [row, column, value] = find (M);
  counts = accumarray (row(:), 1, [rows(M), 1]);
  ## one column for each value in each place, so that a product counts where two rows agree
  [~, ~, place] = unique ([column(:), value(:)], "rows");
  agree = full (products (row, place, rows (M)));
  either = counts + counts.' - full (products (row, column, rows (M)));
  S = 1 - (either - agree) ./ either;
  S(either == 0) = 0;
  S(1:rows(S)+1:end) = 1;
endfunction

## How many columns any two rows share.
function shared = products (row, column, number)
  B = sparse (row(:), column(:), 1, number, max ([column(:); 1]));
  shared = B * B.';
endfunction
