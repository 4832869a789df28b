## -- networks = similarity_networks (inputs, own, nodes, digits)
##
## One matrix of similarities over the nodes `own` for each relation with one of them at an end: nodes are alike that
## are linked with the same nodes. Similarities keep so many significant digits.

function networks = similarity_networks (inputs, own, nodes, digits)
  networks = {};
  for relation = 1:numel (inputs.relation_names)
    edges = inputs.edges(inputs.edges(:,1) == relation, 2:3);
    ## an edge is met from both of its ends
    edges = [edges; fliplr(edges)];
    edges = edges(edges(:,1) >= own(1) & edges(:,1) <= own(end), :);
    if (! isempty (edges))
      ## nodes without an edge are like none: they take no room
      [met, ~, place] = unique (edges(:,1) - own(1) + 1);
      M = sparse (place, edges(:,2), 1, numel (met), nodes) != 0;
      [row, column, similarity] = find (with_digits (jaccard_similarity (M), digits));
      networks{end+1} = sparse (met(row), met(column), similarity, numel (own), numel (own));
    endif
  endfor
endfunction
