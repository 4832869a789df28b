## -- T = block_matrix (S, P, A)
##
## The heterogeneous network as one matrix, drugs first: drug similarities S (N_S x N_S), disease similarities P
## (N_P x N_P) and associations A (N_S x N_P). A zero anywhere counts as not observed.

function T = block_matrix (S, P, A)
  A = double (A);
  T = [S, A; A.', P];
endfunction
