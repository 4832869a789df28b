## -- array = read_npy (path)
##
## Read an array of the protocol: little-endian int8, uint8, int32, int64, float32 or float64, stored row by row, in
## an .npy file of version 1.0. The result keeps the type of the file. One dimension becomes a column, none a scalar.

function array = read_npy (path)
  [stream, reason] = fopen (path, "r", "ieee-le");
  if (stream < 0)
    error ("permafrost:npy", "%s: %s", path, reason);
  endif
  closing = onCleanup (@() fclose (stream));
  magic = fread (stream, 8, "uint8=>double")';
  if (! isequal (magic, [147, double("NUMPY"), 1, 0]))
    error ("permafrost:npy", "%s: not an .npy file, version 1.0", path);
  endif
  header = fread (stream, fread (stream, 1, "uint16"), "char=>char")';
  descr = regexp (header, "'descr':\\s*'([^']*)'", "tokens", "once");
  order = regexp (header, "'fortran_order':\\s*(True|False)", "tokens", "once");
  told = regexp (header, "'shape':\\s*\\(([0-9, ]*)\\)", "tokens", "once");
  if (isempty (descr) || ! isequal (order, {"False"}) || isempty (told))
    error ("permafrost:npy", "%s: %s is not part of the protocol", path, strtrim (header));
  endif
  shape = str2double (regexp (told{1}, "[0-9]+", "match"));
  type = npy_type (descr{1});
  if (isempty (type) || numel (shape) > 2)
    error ("permafrost:npy", "%s: %s is not part of the protocol", path, strtrim (header));
  endif
  array = fread (stream, Inf, [type "=>" type]);
  if (numel (array) != prod (shape))
    error ("permafrost:npy", "%s: holds %d numbers, its header says %d", path, numel (array), prod (shape));
  endif
  if (numel (shape) == 2)
    array = reshape (array, fliplr (shape)).';
  endif
endfunction

## The class of a numpy type name; empty for a type the protocol does not have.
function type = npy_type (descr)
  names = {"|i1", "int8"; "|u1", "uint8"; "<i4", "int32"; "<i8", "int64"; "<f4", "single"; "<f8", "double"};
  type = [names{strcmp(names(:,1), descr), 2}];
endfunction
