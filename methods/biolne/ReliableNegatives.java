import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import weka.classifiers.bayes.NaiveBayes;
import weka.core.Instances;

/**
 * Negatives by learning from positive and unlabelled pairs: a tenth of the positives are set aside as spies, naive
 * Bayes tells the rest from unlabelled pairs, whose labels it changes until they stay, and those pairs are
 * negatives that score no higher than the spies do on average, less 1.96 deviations.
 */
final class ReliableNegatives {
    private static final double SPIES = 0.1;
    private static final double SETTLED = 0.1;
    private static final int MOST_ROUNDS = 100;
    private static final double DEVIATIONS = 1.96;

    /** The rows of the candidates that are negatives. */
    final int[] rows;
    final int[] spies;
    final double[] posteriors;
    final double threshold;
    final int rounds;

    ReliableNegatives(double[][] positives, double[][] candidates, Random random) throws Exception {
        List<Integer> order = new ArrayList<>();
        for (int row = 0; row < positives.length; row++) order.add(row);
        Collections.shuffle(order, random);
        spies = order.subList(0, (int) (SPIES * positives.length)).stream().mapToInt(row -> row).toArray();
        int[] rest = order.subList(spies.length, order.size()).stream().mapToInt(row -> row).toArray();
        boolean[] labels = new boolean[candidates.length];
        double[] scores = new double[candidates.length];
        NaiveBayes model;
        int round = 0;
        double moved;
        do {
            model = fitted(positives, rest, candidates, labels);
            moved = 0;
            double[] next = PairClassifier.positive(model, candidates);
            for (int row = 0; row < next.length; row++) {
                moved += Math.abs(next[row] - scores[row]);
                labels[row] = next[row] > 0.5;
            }
            scores = next;
        } while (moved >= SETTLED && ++round < MOST_ROUNDS);
        rounds = round;
        posteriors = scores;
        double[][] spyVectors = Arrays.stream(spies).mapToObj(row -> positives[row]).toArray(double[][]::new);
        threshold = threshold(PairClassifier.positive(model, spyVectors));
        double[] last = scores;
        rows = IntStream.range(0, last.length).filter(row -> last[row] <= threshold).toArray();
    }

    /**
     * Mean less 1.96 times the root of the sum of squares over n - 1, not over its root, as the original has it.
     */
    static double threshold(double[] scores) {
        double mean = Arrays.stream(scores).average().orElse(1);
        double squares = Arrays.stream(scores).map(score -> (score - mean) * (score - mean)).sum();
        return mean - DEVIATIONS * (scores.length > 1 ? Math.sqrt(squares) / (scores.length - 1) : 0);
    }

    private static NaiveBayes fitted(double[][] positives, int[] rest, double[][] candidates, boolean[] labels)
        throws Exception {
        Instances data = PairClassifier.table(positives[0].length, rest.length + candidates.length);
        for (int row : rest) PairClassifier.add(data, positives[row], true);
        for (int row = 0; row < candidates.length; row++) PairClassifier.add(data, candidates[row], labels[row]);
        NaiveBayes model = new NaiveBayes();
        model.buildClassifier(data);
        return model;
    }
}
