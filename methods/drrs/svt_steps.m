## -- X = svt_steps (P, known, tau, delta, steps)
##
## Singular value thresholding (Cai, Candes and Shen, 2010), a counted number of steps of it: from Y_0, a multiple of
## the matrix P, step k shrinks the singular values of Y by tau to get X_k and adds delta (P - X_k) to Y where P is
## known. P is 0 where it is not known. The first steps, which would shrink everything to 0, are taken as one.

function X = svt_steps (P, known, tau, delta, steps)
  Y = ceil (tau / (delta * max (norm (P), eps))) * delta * P;
  for k = 1:steps
    X = svt (Y, tau);
    Y += delta * (P - X .* known);
  endfor
endfunction
