import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * Vectors of nodes by node2vec: biased walks, and the skip-gram model with negative sampling on them, with the
 * defaults of word2vec in gensim: 5 negatives drawn by count^0.75, rates from 0.025 down to 0.0001, frequent nodes
 * left out by chance (threshold 1e-3), windows of random width, and a sigmoid from a table that ends at 6.
 */
final class NodeVectors {
    private static final int NEGATIVES = 5;
    private static final double FIRST_RATE = 0.025;
    private static final double LAST_RATE = 0.0001;
    private static final double SAMPLE = 1e-3;
    private static final int BOUND = 6;
    private static final int STEPS = 1000;
    private static final float[] SIGMOID = new float[STEPS];

    static {
        // StrictMath: the same bits on every machine
        for (int at = 0; at < STEPS; at++) {
            double power = StrictMath.exp((2.0 * at / STEPS - 1) * BOUND);
            SIGMOID[at] = (float) (power / (power + 1));
        }
    }

    private final Random random;
    private final int dimensions;
    private final float[][] inputs;
    private final float[][] outputs;
    // of the alias method: the chance to stay at a drawn node, and the node to go to else
    private final float[] stays;
    private final int[] others;
    private final float[] change;

    private NodeVectors(int dimensions, long[] counts, Random random) {
        this.dimensions = dimensions;
        this.random = random;
        inputs = new float[counts.length][];
        outputs = new float[counts.length][dimensions];
        change = new float[dimensions];
        for (int node = 0; node < counts.length; node++) {
            float[] vector = new float[dimensions];
            for (int at = 0; at < dimensions; at++) vector[at] = (random.nextFloat() - 0.5f) / dimensions;
            inputs[node] = vector;
        }
        stays = new float[counts.length];
        others = new int[counts.length];
        fillAliases(counts);
    }

    /** A vector per node; none (null) for a node without a neighbour, which no walk visits. */
    static float[][] of(
        Network network, int dimensions, int walks, int length, int window, double p, double q, int epochs,
        Random random) {
        List<Integer> starts = new ArrayList<>();
        for (int node = 0; node < network.nodes(); node++) {
            if (network.degree(node) > 0) starts.add(node);
        }
        List<int[]> corpus = new ArrayList<>();
        long[] counts = new long[network.nodes()];
        for (int round = 0; round < walks; round++) {
            Collections.shuffle(starts, random);
            for (int start : starts) {
                int[] walk = network.walk(start, length, p, q, random);
                for (int node : walk) counts[node]++;
                corpus.add(walk);
            }
        }
        NodeVectors model = new NodeVectors(dimensions, counts, random);
        model.train(corpus, counts, window, epochs);
        for (int node = 0; node < network.nodes(); node++) {
            if (network.degree(node) == 0) model.inputs[node] = null;
        }
        return model.inputs;
    }

    private void train(List<int[]> corpus, long[] counts, int window, int epochs) {
        long total = 0;
        for (long count : counts) total += count;
        double[] keeps = new double[counts.length];
        for (int node = 0; node < counts.length; node++) {
            double share = SAMPLE * total / Math.max(counts[node], 1);
            keeps[node] = Math.sqrt(share) + share;
        }
        long done = 0;
        for (int epoch = 0; epoch < epochs; epoch++) {
            for (int[] walk : corpus) {
                double progress = (double) done / (total * epochs);
                float rate = (float) (FIRST_RATE - (FIRST_RATE - LAST_RATE) * progress);
                int[] kept = new int[walk.length];
                int length = 0;
                for (int node : walk) {
                    if (keeps[node] >= 1 || random.nextDouble() < keeps[node]) kept[length++] = node;
                }
                trainOn(kept, length, window, rate);
                done += walk.length;
            }
        }
    }

    private void trainOn(int[] walk, int length, int window, float rate) {
        for (int centre = 0; centre < length; centre++) {
            int width = window - random.nextInt(window);
            for (int at = Math.max(0, centre - width); at <= Math.min(length - 1, centre + width); at++) {
                if (at != centre) predict(walk[centre], inputs[walk[at]], rate);
            }
        }
    }

    /** One step: the vector of a neighbour in a walk predicts the node, and not the drawn ones. */
    private void predict(int node, float[] input, float rate) {
        Arrays.fill(change, 0);
        for (int draw = 0; draw <= NEGATIVES; draw++) {
            int target = draw == 0 ? node : drawn();
            if (draw > 0 && target == node) continue;
            float[] output = outputs[target];
            float product = product(input, output);
            if (product <= -BOUND || product >= BOUND) continue;
            float sigmoid = SIGMOID[(int) ((product + BOUND) * (STEPS / BOUND / 2))];
            float step = ((draw == 0 ? 1 : 0) - sigmoid) * rate;
            for (int at = 0; at < dimensions; at++) {
                change[at] += step * output[at];
                output[at] += step * input[at];
            }
        }
        for (int at = 0; at < dimensions; at++) input[at] += change[at];
    }

    /** Four sums, which the processor can add at the same time: their order is fixed. */
    private static float product(float[] first, float[] second) {
        float one = 0;
        float two = 0;
        float three = 0;
        float four = 0;
        int at = 0;
        for (; at + 3 < first.length; at += 4) {
            one += first[at] * second[at];
            two += first[at + 1] * second[at + 1];
            three += first[at + 2] * second[at + 2];
            four += first[at + 3] * second[at + 3];
        }
        for (; at < first.length; at++) one += first[at] * second[at];
        return one + two + (three + four);
    }

    private int drawn() {
        int node = random.nextInt(others.length);
        return random.nextFloat() < stays[node] ? node : others[node];
    }

    /** Tables to draw a node with a chance proportional to count^0.75 (Walker's alias method). */
    private void fillAliases(long[] counts) {
        int nodes = counts.length;
        double[] shares = new double[nodes];
        double sum = 0;
        int visited = 0;
        for (int node = 0; node < nodes; node++) {
            shares[node] = StrictMath.pow(counts[node], 0.75);
            sum += shares[node];
            if (counts[node] > 0) visited = node;
        }
        List<Integer> small = new ArrayList<>();
        List<Integer> large = new ArrayList<>();
        for (int node = 0; node < nodes; node++) {
            shares[node] *= nodes / sum;
            (shares[node] < 1 ? small : large).add(node);
        }
        while (!small.isEmpty() && !large.isEmpty()) {
            int less = small.remove(small.size() - 1);
            int more = large.get(large.size() - 1);
            stays[less] = (float) shares[less];
            others[less] = more;
            shares[more] -= 1 - shares[less];
            if (shares[more] < 1) small.add(large.remove(large.size() - 1));
        }
        // what is left is 1 but for rounding; a node that no walk visits must never be drawn
        small.addAll(large);
        for (int node : small) {
            stays[node] = counts[node] > 0 ? 1 : 0;
            others[node] = visited;
        }
    }
}
