import java.util.Arrays;

/**
 * Logistic regression as LIBLINEAR's `-s 0 -c 1 -B 1` states it: the minimum over w of w'w / 2 + sum of log(1 +
 * exp(-y w'x)), where every x has a 1 at its end. Debian has no LIBLINEAR for Java; Newton's method finds the same
 * minimum, to which LIBLINEAR's own steps stop near.
 */
final class LogisticRegression implements PairClassifier {
    private static final int MOST_STEPS = 100;
    private static final double SETTLED = 1e-10;

    final double[] weights;

    LogisticRegression(double[][] vectors, int bindings) {
        int size = vectors[0].length + 1;
        weights = new double[size];
        for (int step = 0; step < MOST_STEPS; step++) {
            double[] gradient = weights.clone();
            double[][] hessian = new double[size][size];
            for (int at = 0; at < size; at++) hessian[at][at] = 1;
            for (int row = 0; row < vectors.length; row++) {
                double[] x = Arrays.copyOf(vectors[row], size);
                x[size - 1] = 1;
                double chance = chance(vectors[row]);
                double slope = chance - (row < bindings ? 1 : 0);
                for (int at = 0; at < size; at++) {
                    gradient[at] += slope * x[at];
                    double curve = chance * (1 - chance) * x[at];
                    for (int other = 0; other <= at; other++) hessian[at][other] += curve * x[other];
                }
            }
            double before = objective(vectors, bindings, weights);
            double[] move = solution(hessian, gradient);
            double[] start = weights.clone();
            // the whole step, or the half of it, and so on, until it leads down
            for (double share = 1; share > SETTLED; share /= 2) {
                for (int at = 0; at < size; at++) weights[at] = start[at] - share * move[at];
                if (objective(vectors, bindings, weights) <= before) break;
            }
            if (Arrays.stream(gradient).map(Math::abs).max().orElse(0) < SETTLED * vectors.length) return;
        }
    }

    @Override
    public double[] probabilities(double[][] vectors) {
        return Arrays.stream(vectors).mapToDouble(this::chance).toArray();
    }

    private double chance(double[] vector) {
        return 1 / (1 + Math.exp(-product(vector, weights)));
    }

    private static double objective(double[][] vectors, int bindings, double[] weights) {
        double sum = 0;
        for (double weight : weights) sum += weight * weight / 2;
        for (int row = 0; row < vectors.length; row++) {
            double margin = product(vectors[row], weights) * (row < bindings ? 1 : -1);
            sum += Math.max(0, -margin) + Math.log1p(Math.exp(-Math.abs(margin)));
        }
        return sum;
    }

    private static double product(double[] vector, double[] weights) {
        double sum = weights[vector.length];
        for (int at = 0; at < vector.length; at++) sum += weights[at] * vector[at];
        return sum;
    }

    /**
     * The solution of a positive definite system, of whose matrix the lower half is read, by Cholesky's method.
     */
    private static double[] solution(double[][] matrix, double[] right) {
        int size = right.length;
        double[] solution = right.clone();
        for (int row = 0; row < size; row++) {
            for (int column = 0; column <= row; column++) {
                double sum = matrix[row][column];
                for (int at = 0; at < column; at++) sum -= matrix[row][at] * matrix[column][at];
                matrix[row][column] = column == row ? Math.sqrt(sum) : sum / matrix[column][column];
            }
            for (int at = 0; at < row; at++) solution[row] -= matrix[row][at] * solution[at];
            solution[row] /= matrix[row][row];
        }
        for (int row = size - 1; row >= 0; row--) {
            for (int at = row + 1; at < size; at++) solution[row] -= matrix[at][row] * solution[at];
            solution[row] /= matrix[row][row];
        }
        return solution;
    }
}
