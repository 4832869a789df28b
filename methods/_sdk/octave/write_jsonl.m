## -- write_jsonl (path, values)
##
## Write the values of a cell array as JSON Lines, one value a line.

function write_jsonl (path, values)
  lines = cellfun (@(value) [jsonencode(value) "\n"], values, "UniformOutput", false);
  write_text (path, [lines{:}]);
endfunction
