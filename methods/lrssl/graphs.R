# The similarities between drugs that the published wrapper gives to LRSSL.

# feature_similarity: X'X of the standardised features (features x drugs), divided by one number, zero diagonal.
# The authors divide elementwise by sqrt(c c'), c the column sums; the wrapper's dot product makes it sqrt(c'c).
feature_similarity <- function(X) {
  S <- crossprod(X) / sqrt(sum(colSums(X)^2))
  diag(S) <- 0
  S
}

# indication_similarity: entry (i, j), i < j, is the largest similarity X.p[a, b] of a disease a of drug i to a
# disease b of drug j, 0 where a drug has none; the lower triangle repeats the upper one.
indication_similarity <- function(Y, X.p) {
  diseases <- lapply(seq_len(nrow(Y)), function(i) which(Y[i, ] == 1))
  # for every drug, the largest of its diseases' columns of M; -Inf for a drug without any
  largest <- function(M) {
    one <- function(own) do.call(pmax, c(list(rep(-Inf, nrow(M))), lapply(own, function(a) M[, a])))
    vapply(diseases, one, numeric(nrow(M)))
  }
  to.disease <- largest(t(X.p))
  to.drug <- largest(t(to.disease))
  S <- ifelse(upper.tri(to.drug) & is.finite(to.drug), to.drug, 0)
  S + t(S)
}

# laplacian: of a graph given by its weights.
laplacian <- function(K) diag(colSums(K)) - K
