## -- write_npy (path, array)
## -- write_npy (path, array, shape)
##
## Write an array of the protocol, row by row, as an .npy file of version 1.0; the class of the array decides the type
## (logical becomes uint8). Octave knows no array of less than two dimensions, so `shape` may say which is meant:
## [] for none, a number for one, [m, n] for two, which is the default.

function write_npy (path, array, shape)
  if (nargin < 3)
    shape = size (array);
  endif
  names = {"int8", "|i1"; "uint8", "|u1"; "logical", "|u1"; "int32", "<i4"; "int64", "<i8"; "single", "<f4"; "double", "<f8"};
  descr = [names{strcmp(names(:,1), class (array)), 2}];
  if (isempty (descr) || ndims (array) > 2 || ! isreal (array) || numel (shape) > 2)
    error ("permafrost:npy", "%s: a %s of %d dimensions is not part of the protocol", path, class (array), ndims (array));
  elseif (prod (shape) != numel (array))
    error ("permafrost:npy", "%s: %d numbers do not have the shape (%s)", path, numel (array), num2str (shape));
  endif
  told = strjoin (arrayfun (@(n) sprintf ("%d", n), shape, "UniformOutput", false), ", ");
  if (numel (shape) == 1)
    told = [told ","];
  endif
  header = sprintf ("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, told);
  ## the format wants the data to start at a multiple of 64 bytes
  header = [header, repmat(" ", 1, mod (-(11 + numel (header)), 64)), "\n"];
  [stream, reason] = fopen (path, "w", "ieee-le");
  if (stream < 0)
    error ("permafrost:npy", "%s: %s", path, reason);
  endif
  closing = onCleanup (@() fclose (stream));
  fwrite (stream, [147, double("NUMPY"), 1, 0], "uint8");
  fwrite (stream, numel (header), "uint16");
  fwrite (stream, header, "char");
  type = class (array);
  if (islogical (array))
    type = "uint8";
  endif
  written = fwrite (stream, array.', type);
  if (written != numel (array) || fflush (stream) != 0)
    error ("permafrost:npy", "%s: written in part only; is the disk full?", path);
  endif
endfunction
