## -- numbers = drand48 (count)
##
## The first numbers of the C library's generator drand48 after srand48 (0), as a column.

function numbers = drand48 (count)
  ## 48 bits are kept as two halves of 24, whose products a double holds exactly
  factor = [double(0x5DE), double(0xECE66D)];
  term = [0, 11];
  state = advanced ([0, double(0x330E)], factor, term);
  while (rows (state) < count)
    ## as many further states at once as there are; factor and term advance by that many
    state = [state; advanced(state, factor, term)];
    term = advanced (term, factor, term);
    factor = advanced (factor, factor, [0, 0]);
  endwhile
  numbers = (state(1:count,1) + state(1:count,2) / 2^24) / 2^24;
endfunction

## factor x state + term, modulo 2^48, row by row.
function state = advanced (state, factor, term)
  low = state(:,2) * factor(2) + term(2);
  high = mod (state(:,1) * factor(2), 2^24) + state(:,2) * factor(1) + floor (low / 2^24) + term(1);
  state = [mod(high, 2^24), mod(low, 2^24)];
endfunction
