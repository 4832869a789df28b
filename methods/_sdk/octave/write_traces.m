## -- write_traces (job, arrays)
##
## Write the fields of a struct for the harness to compare with goldens, name by name. Scalars are written without
## dimensions, columns with one, all else with two.

function write_traces (job, arrays)
  folder = fullfile (job.out, "trace");
  if (! isfolder (folder))
    mkdir (folder);
  endif
  for [array, name] = arrays
    shape = size (array);
    if (isscalar (array))
      shape = [];
    elseif (iscolumn (array))
      shape = numel (array);
    endif
    write_npy (fullfile (folder, [name ".npy"]), array, shape);
  endfor
endfunction
