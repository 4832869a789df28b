import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * What a method of benchmark `dti` sees of the harness: drug-target pairs come in, a score for each goes out. The
 * main method of a method's main.java is `Dti.run(Main::fitPredict)`. Values of test pairs are not among what
 * there is to read.
 */
final class Dti {
    private Dti() {}

    /** Drugs and targets, a row each, and the value of each pair: 1 binds, 0 does not, or an affinity. */
    record Pairs(int[][] pairs, double[] values) {}

    /**
     * What a method may know. The inputs that its card declares are `job.array(name)` and `job.texts(name)`. Nodes
     * of the network (`edges`: relation, head, tail) are numbered drugs first, then targets, then all others.
     */
    record Problem(int drugs, int targets, int nodes, boolean affinity, Pairs train, int[][] testPairs, Job job) {
        JsonObject parameters() {
            return job.parameters;
        }

        long seed() {
            return job.seed;
        }
    }

    /** A score for every test pair, higher for what binds, the epochs trained, and the loss of each. */
    record Answer(double[] scores, int epochs, double... losses) {}

    static void run(Permafrost.Method<Problem, Answer> method) {
        Permafrost.perform(Model::new, method);
    }

    /**
     * The training bindings, then `ratio` times as many pairs that training does not have, of value 0. They join
     * drugs and targets of training. Affinities, and training pairs with zeros, come back as they are.
     */
    static Pairs withNegatives(Problem problem, double ratio, Random random) {
        Pairs train = problem.train;
        if (problem.affinity || Arrays.stream(train.values).anyMatch(value -> value != 1)) return train;
        int[][] negatives = unknownPairs(train.pairs, Math.round(ratio * train.pairs.length), random);
        int[][] pairs = Arrays.copyOf(train.pairs, train.pairs.length + negatives.length);
        System.arraycopy(negatives, 0, pairs, train.pairs.length, negatives.length);
        return new Pairs(pairs, Arrays.copyOf(train.values, pairs.length));
    }

    /**
     * As many pairs as are asked for, or all there are, that are not among `pairs`: a drug and then a target of
     * these, drawn with the same chance each, until a pair is new.
     */
    static int[][] unknownPairs(int[][] pairs, long count, Random random) {
        int[] drugs = Arrays.stream(pairs).mapToInt(pair -> pair[0]).distinct().sorted().toArray();
        int[] targets = Arrays.stream(pairs).mapToInt(pair -> pair[1]).distinct().sorted().toArray();
        Set<List<Integer>> seen = new HashSet<>();
        for (int[] pair : pairs) seen.add(List.of(pair[0], pair[1]));
        int wanted = (int) Math.min(count, (long) drugs.length * targets.length - seen.size());
        int[][] drawn = new int[wanted][];
        for (int at = 0; at < wanted;) {
            int drug = drugs[random.nextInt(drugs.length)];
            int target = targets[random.nextInt(targets.length)];
            if (seen.add(List.of(drug, target))) drawn[at++] = new int[] {drug, target};
        }
        return drawn;
    }

    /** Pairs to train on, and a share of them to choose a model by: each value's share where they are bindings. */
    static List<Pairs> heldBack(Pairs all, double share, Random random) {
        Map<Double, List<Integer>> strata = new TreeMap<>();
        boolean binary = Arrays.stream(all.values).distinct().count() <= 2;
        for (int row = 0; row < all.values.length; row++) {
            strata.computeIfAbsent(binary ? all.values[row] : 0, value -> new ArrayList<>()).add(row);
        }
        boolean[] chosen = new boolean[all.values.length];
        for (List<Integer> rows : strata.values()) {
            Collections.shuffle(rows, random);
            for (int row : rows.subList(0, (int) Math.rint(share * rows.size()))) chosen[row] = true;
        }
        return List.of(selection(all, chosen, false), selection(all, chosen, true));
    }

    private static Pairs selection(Pairs all, boolean[] chosen, boolean which) {
        int[] rows = IntStream.range(0, chosen.length).filter(row -> chosen[row] == which).toArray();
        return new Pairs(
            Arrays.stream(rows).mapToObj(row -> all.pairs[row]).toArray(int[][]::new),
            Arrays.stream(rows).mapToDouble(row -> all.values[row]).toArray());
    }

    /** The one model of a job. */
    private static final class Model implements Permafrost.Work<Problem, Answer> {
        private final Job job;
        private final Problem problem;
        private final JsonArray epochs = new JsonArray();
        private final JsonArray losses = new JsonArray();

        Model(Job job) {
            this.job = job;
            int[] sizes = job.array("sizes").ints();
            Pairs train = new Pairs(job.array("train_pairs").intRows(), job.array("train_values").doubles());
            problem = new Problem(
                sizes[0], sizes[1], sizes[2], sizes[3] != 0, train, job.array("test_pairs").intRows(), job);
        }

        @Override
        public int models() {
            return 1;
        }

        @Override
        public Problem problem(int model) {
            return problem;
        }

        @Override
        public void keep(int model, Answer answer) throws IOException {
            if (answer.scores.length != problem.testPairs.length) {
                throw new IllegalArgumentException(
                    answer.scores.length + " scores for " + problem.testPairs.length + " pairs");
            }
            Npy.of(answer.scores, answer.scores.length).write(job.out.resolve("scores.npy"));
            epochs.add(answer.epochs);
            for (double loss : answer.losses) losses.add(Double.isFinite(loss) ? loss : null);
        }

        @Override
        public void finish(JsonObject report) {
            report.add("iterations", epochs);
            report.add("losses", losses);
        }
    }
}
