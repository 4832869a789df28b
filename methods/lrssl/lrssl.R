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

# symmetric.inverse: the inverse P of a symmetric matrix M, never formed, by way of a root of it:
#   root(Q)                  the root times Q
#   product(root(Q))         P Q
#   forms(root(X), root(Q))  XPX = X'PX and XPQ = X'PQ
# The root is that of Cholesky where M is positive definite: it is for any graph without negative weights. The
# benchmark's wrapper gives signed graphs; then root() does nothing and M is solved, at twice the cost.
symmetric.inverse <- function(M) {
  R <- tryCatch(chol(M), error = function(indefinite) NULL)
  if (is.null(R)) {
    root <- identity
    product <- function(Q) solve(M, Q)
    forms <- function(X, Q) {
      PX <- solve(M, X)
      list(XPX = crossprod(X, PX), XPQ = crossprod(PX, Q))
    }
  } else {
    root <- function(Q) backsolve(R, Q, transpose = TRUE)
    product <- function(V) backsolve(R, V)
    forms <- function(W, V) list(XPX = crossprod(W), XPQ = crossprod(W, V))
  }
  list(root = root, product = product, forms = forms)
}

# updated: one multiplicative step of a projection G, whose gradient is A G - B.
updated <- function(G, A, B) {
  A.plus <- A * (A > 0)
  B.plus <- B * (B > 0)
  G * sqrt((B.plus + (A.plus - A) %*% G) / (B.plus - B + A.plus %*% G))
}

# lrssl: sparse projections of mx views that follow ml graphs.
#   Xs        list of mx matrices, features x drugs
#   Ls        list of ml graph Laplacians, drugs x drugs
#   Y         labels, drugs x diseases
#   mu, lam   weights of the projection error and of the sparsity
#   gam       exponent of the graphs' weights
#   max.iter, eps   stop after max.iter steps or when the projections change by less than eps, relatively
# Each step updates, with P the inverse of sum_l alpha_l^gam L_l + (1 + mx mu) I:
#   F = P (Y + mu sum_i X_i' G_i)
#   G_i = G_i * sqrt((B+ + A- G_i) / (B- + A+ G_i)), element by element, + and - for positive and negative parts, where
#     A = mu X_i X_i' + lam 1 1' - mu^2 X_i P X_i'  and  B = mu X_i P (Y + mu sum_(j != i) X_j' G_j)
#   alpha_l = (1 / tr(F' L_l F))^(1 / (gam - 1)), divided by their sum
# The weights alpha may be negative where graphs are signed.
# Result: Gs (list of mx projections), F.mat, alpha (weights of the graphs), diff.G, t; and G0s, where Gs started.
lrssl <- function(Xs, Ls, Y, mx, ml, mu, lam, gam, max.iter, eps) {
  n <- nrow(Y)
  alpha <- rep(1 / ml, ml)
  Gs <- lapply(Xs, function(X) matrix(runif(nrow(X) * ncol(Y)), nrow(X), ncol(Y)))
  G0s <- Gs
  # one graph per column: what is summed over graphs is then one product
  L.all <- vapply(Ls, as.vector, numeric(n * n))
  # mu X' in place of X', so that nothing large is scaled in the loop
  muXts <- lapply(Xs, function(X) mu * t(X))
  constants <- lapply(muXts, function(muXt) crossprod(muXt) / mu + lam)
  for (t in seq_len(max.iter)) {
    M <- matrix(L.all %*% alpha^gam, n)
    diag(M) <- diag(M) + (1 + mx * mu)
    P <- symmetric.inverse(M)
    V <- P$root(Y)
    Ws <- lapply(muXts, P$root)
    WGs <- Map(`%*%`, Ws, Gs)
    F.mat <- P$product(Reduce(`+`, WGs, V))
    olds <- Gs
    for (i in seq_len(mx)) {
      through <- P$forms(Ws[[i]], Reduce(`+`, WGs[-i], V))
      Gs[[i]] <- updated(olds[[i]], constants[[i]] - through$XPX, through$XPQ)
    }
    traces <- crossprod(L.all, as.vector(tcrossprod(F.mat)))
    alpha <- as.vector(1 / traces)^(1 / (gam - 1))
    # a graph without edges costs nothing: in the limit it has all the weight
    if (any(is.infinite(alpha))) alpha <- as.numeric(is.infinite(alpha))
    alpha <- alpha / sum(alpha)
    diff.G <- mean(mapply(function(G, old) norm(G - old, "F") / norm(old, "F"), Gs, olds))
    if (diff.G < eps) break
  }
  list(Gs = Gs, F.mat = F.mat, alpha = alpha, diff.G = diff.G, t = t, G0s = G0s)
}
