## -- traces = each_case (arrays, replay)
##
## What a file of many cases is compared with: `replay` gets the inputs of a case, c{i}_in_NAME, as fields, and returns
## its outputs, which become c{i}_out_NAME.

function traces = each_case (arrays, replay)
  traces = struct ();
  for number = double (arrays.cases(:).')
    start = sprintf ("c%d_in_", number);
    inputs = struct ();
    for [array, name] = arrays
      if (strncmp (name, start, numel (start)))
        inputs.(name(numel (start)+1:end)) = array;
      endif
    endfor
    for [array, name] = replay (inputs)
      traces.(sprintf ("c%d_out_%s", number, name)) = array;
    endfor
  endfor
endfunction
