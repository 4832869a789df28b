import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.function.DoubleBinaryOperator;

/** Vectors of pairs from those of drug and target, rounded to three decimals, halves away from zero. */
final class PairVectors {
    private static final int DECIMALS = 3;

    private final float[][] nodes;
    private final int drugs;
    private final int dimensions;
    private final String operator;

    PairVectors(float[][] nodes, int drugs, int dimensions, String operator) {
        this.nodes = nodes;
        this.drugs = drugs;
        this.dimensions = dimensions;
        this.operator = operator;
    }

    double[][] of(int[][] pairs) {
        double[][] vectors = new double[pairs.length][];
        for (int row = 0; row < pairs.length; row++) {
            vectors[row] = vector(node(pairs[row][0]), node(drugs + pairs[row][1]));
        }
        return vectors;
    }

    private double[] vector(float[] drug, float[] target) {
        DoubleBinaryOperator element = switch (operator) {
            case "hadamard" -> (a, b) -> a * b;
            case "average" -> (a, b) -> (a + b) / 2;
            case "l1" -> (a, b) -> Math.abs(a - b);
            case "l2" -> (a, b) -> (a - b) * (a - b);
            case "concatenation" -> null;
            default -> throw new IllegalArgumentException("there is no operator '" + operator + "'");
        };
        double[] vector = new double[element == null ? 2 * dimensions : dimensions];
        for (int at = 0; at < vector.length; at++) {
            double value = element != null ? element.applyAsDouble(drug[at], target[at])
                : at < dimensions ? drug[at] : target[at - dimensions];
            vector[at] = rounded(value);
        }
        return vector;
    }

    /** A node outside the network, which the original could not be asked about, has a vector of zeros. */
    private float[] node(int node) {
        return nodes[node] != null ? nodes[node] : new float[dimensions];
    }

    static double rounded(double value) {
        return new BigDecimal(value).setScale(DECIMALS, RoundingMode.HALF_UP).doubleValue();
    }
}
