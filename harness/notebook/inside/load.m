## Run by the notebook's Octave when it starts: `fit_predict` is defined, and `problem` is what the SDK hands to it for
## the first inner model. Nothing is fitted.
1;

## stands in for the SDK's while main.m is read
function permafrost_run (varargin)
endfunction
source ("/opt/method/main.m");
clear -function permafrost_run

function answer = keep_problem (problem)
  if (problem.model == 0)
    assignin ("base", "problem", problem);
  endif
  answer.scores = zeros (size (problem.associations));
endfunction
permafrost_run (@keep_problem);
clear -function keep_problem
