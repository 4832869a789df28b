import com.google.gson.JsonObject;

/** bioLNE: vectors of nodes from walks, a classifier of pairs, and inference from similar drugs and targets. */
final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        Dti.run(Main::fitPredict);
    }

    private static Dti.Answer fitPredict(Dti.Problem problem) throws Exception {
        JsonObject chosen = problem.parameters();
        int[][] known = Steps.bindings(problem);
        float[][] nodes = Steps.nodeVectors(problem, known);
        PairVectors vectors = new PairVectors(
            nodes, problem.drugs(), chosen.get("dimensions").getAsInt(), chosen.get("operator").getAsString());
        double[][] training = Steps.withNegatives(problem, known, vectors);
        PairClassifier classifier = PairClassifier.fitted(
            chosen.get("classifier").getAsString(), training, known.length, chosen.get("trees").getAsInt(),
            problem.seed());
        double[] chances = classifier.probabilities(vectors.of(problem.testPairs()));
        return new Dti.Answer(Steps.scores(problem, known, nodes, chances), 0);
    }
}
