import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Inference from similar nodes (DBSI by drugs, TBSI by targets): how similar a node is, on average, to those that
 * are known to bind the other node of a pair. Similarities are cosines, scaled to [-1, 1] over all other nodes of
 * its kind.
 */
final class SimilarityInference {
    private final float[][] vectors;
    private final Map<Integer, List<Integer>> binding = new HashMap<>();
    private final Map<Integer, double[]> similarities = new HashMap<>();

    /** `side` 0: by drugs; 1: by targets. `vectors` are those of its nodes, null where a node has none. */
    SimilarityInference(float[][] vectors, int[][] known, int side) {
        this.vectors = vectors;
        for (int[] pair : known) {
            binding.computeIfAbsent(pair[1 - side], node -> new ArrayList<>()).add(pair[side]);
        }
    }

    /** The score of `node` with `other`, which is of the other kind; 0 where there is nothing to infer from. */
    double score(int node, int other) {
        List<Integer> known = binding.getOrDefault(other, List.of());
        if (known.isEmpty() || vectors[node] == null) return 0;
        double[] scaled = similarities.computeIfAbsent(node, this::scaled);
        double sum = 0;
        for (int one : known) {
            if (one != node) sum += scaled[one];
        }
        return sum / known.size();
    }

    private double[] scaled(int node) {
        double[] cosines = new double[vectors.length];
        // the original starts from this tiny positive number, as if it were the lowest
        double most = Double.MIN_VALUE;
        double least = Double.MAX_VALUE;
        for (int other = 0; other < vectors.length; other++) {
            if (other == node || vectors[other] == null) continue;
            cosines[other] = cosine(vectors[node], vectors[other]);
            most = Math.max(most, cosines[other]);
            least = Math.min(least, cosines[other]);
        }
        for (int other = 0; other < vectors.length; other++) {
            cosines[other] = most > least ? 2 * (cosines[other] - least) / (most - least) - 1 : 0;
        }
        return cosines;
    }

    static double cosine(float[] first, float[] second) {
        double product = 0;
        double one = 0;
        double two = 0;
        for (int at = 0; at < first.length; at++) {
            product += (double) first[at] * second[at];
            one += (double) first[at] * first[at];
            two += (double) second[at] * second[at];
        }
        return product / Math.sqrt(one * two);
    }
}
