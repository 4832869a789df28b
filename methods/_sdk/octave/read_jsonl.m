## -- values = read_jsonl (path)
##
## The values of a file of JSON Lines, a cell each.

function values = read_jsonl (path)
  lines = strsplit (fileread (path), "\n");
  lines = lines(! cellfun (@isempty, lines));
  values = cellfun (@(line) jsondecode (line, "makeValidName", false), lines, "UniformOutput", false);
endfunction
