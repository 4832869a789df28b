# LRSSL and the graphs its published wrapper makes, transcribed plainly from their equations: what ours is timed
# against. The drawing order is ours, so that both start alike.

plain_feature_similarity <- function(X) {
  c <- colSums(X)
  S <- t(X) %*% X / sqrt(sum(c * c))
  diag(S) <- 0
  S
}

plain_indication_similarity <- function(Y, X.p) {
  n <- nrow(Y)
  S <- matrix(0, n, n)
  own <- lapply(seq_len(n), function(i) which(Y[i, ] == 1))
  for (i in seq_len(n - 1)) for (j in (i + 1):n) {
    if (length(own[[i]]) && length(own[[j]])) S[i, j] <- S[j, i] <- max(X.p[own[[i]], own[[j]]])
  }
  S
}

plain_knn_graph <- function(S, k) {
  K <- matrix(0, nrow(S), nrow(S))
  for (i in seq_len(nrow(S))) {
    nearest <- order(S[i, ], decreasing = TRUE)[seq_len(k)]
    K[i, nearest] <- 1
    K[nearest, i] <- 1
  }
  K
}

plain_lrssl <- function(Xs, Ls, Y, mx, ml, mu, lam, gam, max.iter, eps) {
  n <- nrow(Y)
  I <- diag(1, n)
  Gs <- lapply(Xs, function(X) matrix(runif(nrow(X) * ncol(Y)), nrow(X), ncol(Y)))
  alpha <- rep(1 / ml, ml)
  for (t in seq_len(max.iter)) {
    L <- matrix(0, n, n)
    for (v in seq_len(ml)) L <- L + alpha[v]^gam * Ls[[v]]
    Q <- Y
    for (i in seq_len(mx)) Q <- Q + mu * t(Xs[[i]]) %*% Gs[[i]]
    P <- solve(L + (1 + mx * mu) * I)
    F.mat <- P %*% Q
    olds <- Gs
    change <- 0
    for (i in seq_len(mx)) {
      X <- Xs[[i]]
      G <- olds[[i]]
      A <- X %*% (mu * I - mu^2 * t(P)) %*% t(X) + lam * matrix(1, nrow(X), nrow(X))
      B <- mu * X %*% P %*% Y
      for (j in seq_len(mx)) if (j != i) B <- B + mu^2 * X %*% t(P) %*% t(Xs[[j]]) %*% olds[[j]]
      up <- (abs(B) + B) / 2 + ((abs(A) - A) / 2) %*% G
      down <- (abs(B) - B) / 2 + ((abs(A) + A) / 2) %*% G
      Gs[[i]] <- G * sqrt(up / down)
      change <- change + norm(Gs[[i]] - G, "F") / norm(G, "F")
    }
    for (v in seq_len(ml)) alpha[v] <- (1 / sum(diag(t(F.mat) %*% Ls[[v]] %*% F.mat)))^(1 / (gam - 1))
    alpha <- alpha / sum(alpha)
    if (change / mx < eps) break
  }
  list(Gs = Gs, F.mat = F.mat, alpha = alpha, t = t)
}
