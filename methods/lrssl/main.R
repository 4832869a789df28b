# LRSSL as the published benchmark runs it: views and two or more graphs of drugs, scores from the projections.
source(file.path(Sys.getenv("PERMAFROST_SDK", "/opt/sdk"), "repurposing.R"))
source_method("lrssl.R")
source_method("graphs.R")

# A view's scores: every disease's share of the drug's projected row, times the weight of the view's graph. A drug
# that is like no other, for want of features, has a row of zeros: its scores are 0.
view_scores <- function(X, G, weight) {
  projected <- X %*% G
  totals <- rowSums(projected)
  weight * projected / ifelse(totals == 0, 1, totals)
}

# The views' scores in one. "row_totals" is what Python's sum(a, b) makes of two matrices: to every row of b it adds
# the total of a's rows, and so on with the next view.
view_sum <- list(
  elementwise = function(sofar, scores) sofar + scores,
  row_totals = function(sofar, scores) scores + rep(colSums(sofar), each = nrow(scores))
)

fit_predict <- function(problem) {
  given <- problem$inputs
  chosen <- problem$parameters
  Y <- problem$associations + 0
  views <- drug_views(given$drug_standardised, given$drug_views)
  Ss <- lapply(views, function(S) feature_similarity(t(S)))
  Ss <- c(Ss, list(indication_similarity(Y, given$disease_similarity)))
  graphs <- switch(chosen$graph,
    neighbours = lapply(Ss, get.knn.graph, chosen$k),
    similarity = Ss
  )
  Xs <- lapply(views, view_similarity)
  Ls <- lapply(graphs, laplacian)
  fit <- lrssl(Xs, Ls, Y, length(Xs), length(Ls), chosen$mu, chosen$lam, chosen$gam, chosen$maxiter, chosen$tol)
  scores <- Map(view_scores, Xs, fit$Gs, fit$alpha[seq_along(Xs)])
  list(
    scores = Reduce(view_sum[[chosen$view_sum]], scores),
    iterations = fit$t,
    trace = c(
      numbered("X", Xs), numbered("S", Ss), numbered("K", graphs), numbered("G0_", fit$G0s), numbered("G_", fit$Gs),
      list(F_mat = fit$F.mat, alpha = fit$alpha, t = fit$t, diff_G = fit$diff.G)
    )
  )
}

numbered <- function(name, parts) setNames(parts, paste0(name, seq_along(parts)))

repurposing_run(fit_predict)
