## -- X = nonnegative_similarity (features, correlations)
##
## The similarities SCPMF was made for: the features themselves where they are a similarity (square), otherwise the
## correlations between rows. What is negative or unknown says nothing of similarity and becomes 0.

function X = nonnegative_similarity (features, correlations)
  X = features;
  if (! issquare (features))
    X = correlations;
  endif
  ## max ignores NaN
  X = max (X, 0);
endfunction
