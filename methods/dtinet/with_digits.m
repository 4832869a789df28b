## -- x = with_digits (x, digits)
##
## Numbers as a file of text keeps them, with so many significant digits: the original's programs hand matrices on in
## such files. With 0 digits they stay as they are.

function x = with_digits (x, digits)
  if (digits > 0)
    ## similarities are shares of small counts: each value is written once
    [values, ~, place] = unique (x(:));
    values = sscanf (sprintf (sprintf ("%%.%dg\n", digits), values), "%g");
    x = reshape (values(place), size (x));
  endif
endfunction
