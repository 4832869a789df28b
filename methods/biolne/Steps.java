import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/** bioLNE's steps on a problem, with its parameters. */
final class Steps {
    private Steps() {}

    /** The pairs that bind; of affinities, those above the median. */
    static int[][] bindings(Dti.Problem problem) {
        double[] values = problem.train().values();
        double[] rising = Arrays.stream(values).sorted().toArray();
        double bound = problem.affinity() ? rising[rising.length / 2] : 0;
        return IntStream.range(0, values.length)
            .filter(row -> values[row] > bound)
            .mapToObj(row -> problem.train().pairs()[row])
            .toArray(int[][]::new);
    }

    /** Vectors of the nodes of the whole network, the known bindings among its edges. */
    static float[][] nodeVectors(Dti.Problem problem, int[][] known) {
        JsonObject chosen = problem.parameters();
        List<int[]> edges = new ArrayList<>();
        for (int[] edge : problem.job().array("edges").intRows()) edges.add(new int[] {edge[1], edge[2]});
        for (int[] pair : known) edges.add(new int[] {pair[0], problem.drugs() + pair[1]});
        return NodeVectors.of(
            new Network(problem.nodes(), edges),
            chosen.get("dimensions").getAsInt(),
            chosen.get("walks").getAsInt(),
            chosen.get("walk_length").getAsInt(),
            chosen.get("window").getAsInt(),
            chosen.get("p").getAsDouble(),
            chosen.get("q").getAsDouble(),
            chosen.get("iterations").getAsInt(),
            new Random(problem.seed()));
    }

    /** The vectors of the bindings, then those of reliable negatives. */
    static double[][] withNegatives(Dti.Problem problem, int[][] known, PairVectors vectors) throws Exception {
        JsonObject chosen = problem.parameters();
        double[][] positives = vectors.of(known);
        Random random = new Random(chosen.get("negative_seed").getAsLong());
        long count = Math.round(chosen.get("negatives").getAsDouble() * known.length);
        double[][] candidates = vectors.of(Dti.unknownPairs(problem.train().pairs(), count, random));
        int[] rows = new ReliableNegatives(positives, candidates, random).rows;
        if (rows.length == 0) {
            problem.job().warnings.add("no candidate scores below the spies: all are taken for negatives");
            rows = IntStream.range(0, candidates.length).toArray();
        }
        double[][] training = Arrays.copyOf(positives, positives.length + rows.length);
        for (int at = 0; at < rows.length; at++) training[positives.length + at] = candidates[rows[at]];
        return training;
    }

    /** The weighted mean of inference and chance, scaled to [0, 1] over the pairs that are asked for. */
    static double[] scores(Dti.Problem problem, int[][] known, float[][] nodes, double[] chances) {
        double weight = problem.parameters().get("similarity_weight").getAsDouble();
        double drugWeight = problem.parameters().get("drug_weight").getAsDouble();
        int targetsEnd = problem.drugs() + problem.targets();
        var byDrugs = new SimilarityInference(Arrays.copyOfRange(nodes, 0, problem.drugs()), known, 0);
        var byTargets = new SimilarityInference(Arrays.copyOfRange(nodes, problem.drugs(), targetsEnd), known, 1);
        double[] scores = new double[chances.length];
        for (int row = 0; row < scores.length; row++) {
            int drug = problem.testPairs()[row][0];
            int target = problem.testPairs()[row][1];
            double inferred = drugWeight * byDrugs.score(drug, target);
            inferred += (1 - drugWeight) * byTargets.score(target, drug);
            scores[row] = weight * inferred + (1 - weight) * chances[row];
        }
        double least = Arrays.stream(scores).min().orElse(0);
        double range = Arrays.stream(scores).max().orElse(0) - least;
        return Arrays.stream(scores).map(score -> range > 0 ? (score - least) / range : 0).toArray();
    }
}
