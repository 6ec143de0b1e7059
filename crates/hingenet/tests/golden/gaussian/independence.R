# Asks bnlearn for the graphs of independence.json: Rscript independence.R independence.json
# Prints, for every table and method, whether the marks are those of the file. Needs bnlearn and jsonlite. Total conditioning is not in bnlearn.
library(bnlearn)
cases <- jsonlite::fromJSON(commandArgs(TRUE)[1], simplifyVector = FALSE)$cases
learners <- list("pc" = pc.stable, "gs" = gs, "iamb" = iamb, "fast-iamb" = fast.iamb, "inter-iamb" = inter.iamb)
for (case in cases) {
  correlation <- do.call(rbind, lapply(case$correlation, unlist))
  m <- ncol(correlation)
  # rows with exactly these correlations, columns in the order of their summed absolute correlations
  set.seed(1)
  noise <- qr.Q(qr(scale(matrix(rnorm(case$rows * m), case$rows), scale = FALSE)))
  rows <- as.data.frame(noise %*% chol(correlation))
  names(rows) <- paste0("x", seq_len(m) - 1)
  rows <- rows[order(-rowSums(abs(correlation)))]
  for (method in names(learners)) {
    found <- learners[[method]](rows, test = "zf", alpha = case$alpha)
    marks <- sort(apply(arcs(found), 1, paste, collapse = " "))
    wanted <- sort(vapply(case$marks[[method]], function(p) paste0("x", p[[1]], " x", p[[2]]), ""))
    cat(case$name, method, if (identical(unname(marks), wanted)) "agrees" else "differs", "\n")
  }
}
