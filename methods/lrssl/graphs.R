# Views, and the similarities between drugs that the published wrapper gives to LRSSL.

# drug_views: the standardised features (drugs x features) of each view; `view` has the number of every feature's view.
drug_views <- function(features, view) {
  lapply(split(seq_along(view), view), function(own) features[, own, drop = FALSE])
}

# view_similarity: a view with as many features as drugs as it is, any other as correlations between drugs.
# A drug whose features are all equal, but for rounding, correlates with none.
view_similarity <- function(S) {
  if (nrow(S) == ncol(S)) return(S)
  covariance <- tcrossprod(S - rowMeans(S)) / ncol(S)
  deviation <- sqrt(diag(covariance))
  correlation <- covariance / outer(deviation, deviation)
  flat <- deviation < 1e-12
  correlation[flat, ] <- 0
  correlation[, flat] <- 0
  pmin(pmax(correlation, -1), 1)
}

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
