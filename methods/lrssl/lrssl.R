# LRSSL (Liang et al. 2017): Laplacian regularised sparse subspace learning.
# Functions, arguments and results are named as in the authors' script, so that their file can stand in for this one.

# get.knn: where the k largest values of v are, largest first; equal values in the order they stand in.
get.knn <- function(v, k) {
  order(v, decreasing = TRUE)[seq_len(min(k, length(v)))]
}

# get.knn.graph: 0/1 adjacency of the graph joining each row's k nearest neighbours, either way round.
get.knn.graph <- function(S, k) {
  n <- nrow(S)
  S.knn <- matrix(0, n, n)
  for (i in seq_len(n)) S.knn[i, get.knn(S[i, ], k)] <- 1
  pmax(S.knn, t(S.knn))
}

# lrssl: sparse projections of mx views that follow ml graphs.
#   Xs        list of mx matrices, features x drugs
#   Ls        list of ml graph Laplacians, drugs x drugs
#   Y         labels, drugs x diseases
#   mu, lam   weights of the projection error and of the sparsity
#   gam       exponent of the graphs' weights
#   max.iter, eps   stop after max.iter steps or when the projections change by less than eps, relatively
# L may be indefinite (the benchmark's wrapper gives signed graphs), so P is found without assuming otherwise, and
# the weights alpha may then be negative.
# Result: Gs (list of mx projections), F.mat, alpha (weights of the graphs), diff.G, t; and G0s, where Gs started.
lrssl <- function(Xs, Ls, Y, mx, ml, mu, lam, gam, max.iter, eps) {
  n <- nrow(Y)
  alpha <- rep(1 / ml, ml)
  Gs <- lapply(Xs, function(X) matrix(runif(nrow(X) * ncol(Y)), nrow(X), ncol(Y)))
  G0s <- Gs
  XXs <- lapply(Xs, tcrossprod)
  XGs <- Map(crossprod, Xs, Gs)
  for (t in seq_len(max.iter)) {
    L <- Reduce(`+`, Map(`*`, alpha^gam, Ls))
    P <- solve(L + diag(1 + mx * mu, n))
    F.mat <- P %*% (Y + mu * Reduce(`+`, XGs))
    olds <- Gs
    for (i in seq_len(mx)) {
      XP <- Xs[[i]] %*% P
      A <- mu * XXs[[i]] - mu^2 * tcrossprod(XP, Xs[[i]]) + lam
      B <- XP %*% (mu * Y + mu^2 * Reduce(`+`, XGs[-i], 0))
      A.plus <- pmax(A, 0)
      B.plus <- pmax(B, 0)
      up <- B.plus + (A.plus - A) %*% Gs[[i]]
      down <- (B.plus - B) + A.plus %*% Gs[[i]]
      Gs[[i]] <- Gs[[i]] * sqrt(up / down)
    }
    XGs <- Map(crossprod, Xs, Gs)
    FF <- tcrossprod(F.mat)
    alpha <- vapply(Ls, function(L) (1 / sum(L * FF))^(1 / (gam - 1)), 0)
    # a graph without edges costs nothing: in the limit it has all the weight
    if (any(is.infinite(alpha))) alpha <- as.numeric(is.infinite(alpha))
    alpha <- alpha / sum(alpha)
    diff.G <- mean(mapply(function(G, old) norm(G - old, "F") / norm(old, "F"), Gs, olds))
    if (diff.G < eps) break
  }
  list(Gs = Gs, F.mat = F.mat, alpha = alpha, diff.G = diff.G, t = t, G0s = G0s)
}
