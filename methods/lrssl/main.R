# LRSSL as the published benchmark runs it: one view, two graphs, scores from the projection.
source(file.path(Sys.getenv("PERMAFROST_SDK", "/opt/sdk"), "permafrost.R"))
source_method("lrssl.R")
source_method("graphs.R")

fit_predict <- function(problem) {
  given <- problem$inputs
  chosen <- problem$parameters
  Y <- problem$associations + 0
  S1 <- feature_similarity(t(given$drug_standardised))
  S2 <- indication_similarity(Y, given$disease_similarity)
  graphs <- switch(chosen$graph,
    neighbours = lapply(list(S1, S2), get.knn.graph, chosen$k),
    similarity = list(S1, S2)
  )
  X <- given$drug_similarity
  Ls <- lapply(graphs, laplacian)
  fit <- lrssl(list(X), Ls, Y, 1, length(Ls), chosen$mu, chosen$lam, chosen$gam, chosen$maxiter, chosen$tol)
  raw <- X %*% fit$Gs[[1]]
  trace <- list(
    X1 = X, S1 = S1, S2 = S2, K1 = graphs[[1]], K2 = graphs[[2]], G0_1 = fit$G0s[[1]], G_1 = fit$Gs[[1]],
    F_mat = fit$F.mat, alpha = fit$alpha, t = fit$t, diff_G = fit$diff.G
  )
  list(scores = fit$alpha[1] * raw / rowSums(raw), iterations = fit$t, trace = trace)
}

permafrost(fit_predict)
