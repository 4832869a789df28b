## -- w = tron (w, objective, gradient, hessian_product, epsilon, most_steps, most_products)
##
## Trust region Newton method (Lin, Weng and Keerthi, 2008), as the library LEML has it: a minimum of `objective` near
## w. Ends when the gradient has shrunk to epsilon times that at the start, or after most_steps accepted steps;
## each step takes up to most_products products with the Hessian.

function w = tron (w, objective, gradient, hessian_product, epsilon, most_steps, most_products)
  f = objective (w);
  g = gradient (w);
  radius = first = norm (g(:));
  if (first < epsilon)
    return
  endif
  step = 1;
  while (step <= most_steps)
    [s, r] = bounded_step (g, radius, @(d) hessian_product (w, d), most_products);
    slope = dot (g(:), s(:));
    predicted = -0.5 * (slope - dot (s(:), r(:)));
    f_new = objective (w + s);
    actual = f - f_new;
    length = norm (s(:));
    if (step == 1)
      radius = min (radius, length);
    endif
    radius = new_radius (radius, length, slope, actual, predicted);
    if (actual > 1e-4 * predicted)
      step += 1;
      w += s;
      f = f_new;
      g = gradient (w);
      if (norm (g(:)) <= epsilon * first)
        break;
      endif
    endif
    if (max (abs (actual), abs (predicted)) <= 1e-12 * abs (f))
      break;
    endif
  endwhile
endfunction

## How far the next step may go, from how well the quadratic model foretold this one.
function radius = new_radius (radius, length, slope, actual, predicted)
  alpha = 4;
  if (-actual - slope > 0)
    alpha = max (0.25, -0.5 * slope / (-actual - slope));
  endif
  if (actual < 1e-4 * predicted)
    radius = min (max (alpha, 0.25) * length, 0.5 * radius);
  elseif (actual < 0.25 * predicted)
    radius = max (0.25 * radius, min (alpha * length, 0.5 * radius));
  elseif (actual < 0.75 * predicted)
    radius = max (0.25 * radius, min (alpha * length, 4 * radius));
  else
    radius = max (radius, min (alpha * length, 4 * radius));
  endif
endfunction

## Conjugate gradients for H s = -g, stopped at the border of the region; r is what remains, -g - H s.
function [s, r] = bounded_step (g, radius, product, most_products)
  s = zeros (size (g));
  r = d = -g;
  enough = 0.1 * norm (g(:));
  squares = sumsq (r(:));
  for number = 1:most_products
    if (sqrt (squares) <= enough)
      break;
    endif
    Hd = product (d);
    alpha = squares / dot (d(:), Hd(:));
    if (norm ((s + alpha * d)(:)) > radius)
      alpha = to_border (s, d, radius);
      s += alpha * d;
      r -= alpha * Hd;
      break;
    endif
    s += alpha * d;
    r -= alpha * Hd;
    before = squares;
    squares = sumsq (r(:));
    d = r + (squares / before) * d;
  endfor
endfunction

## How far along d the border of the region is, from s inside it.
function alpha = to_border (s, d, radius)
  std = dot (s(:), d(:));
  dtd = sumsq (d(:));
  left = radius^2 - sumsq (s(:));
  rad = sqrt (std^2 + dtd * left);
  if (std >= 0)
    alpha = left / (std + rad);
  else
    alpha = (rad - std) / dtd;
  endif
endfunction
