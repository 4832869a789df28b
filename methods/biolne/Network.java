import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** An undirected network without repeated edges: the neighbours of each node, rising. */
final class Network {
    private final int[] starts;
    private final int[] neighbours;

    /** A network of pairs of nodes; a pair that comes twice, in either direction, is one edge. */
    Network(int nodes, List<int[]> edges) {
        long[] directed = new long[2 * edges.size()];
        for (int at = 0; at < edges.size(); at++) {
            int[] edge = edges.get(at);
            directed[2 * at] = (long) edge[0] * nodes + edge[1];
            directed[2 * at + 1] = (long) edge[1] * nodes + edge[0];
        }
        directed = Arrays.stream(directed).sorted().distinct().toArray();
        starts = new int[nodes + 1];
        for (long edge : directed) starts[(int) (edge / nodes) + 1]++;
        for (int node = 0; node < nodes; node++) starts[node + 1] += starts[node];
        neighbours = Arrays.stream(directed).mapToInt(edge -> (int) (edge % nodes)).toArray();
    }

    int nodes() {
        return starts.length - 1;
    }

    int degree(int node) {
        return starts[node + 1] - starts[node];
    }

    /**
     * A walk of node2vec (Grover and Leskovec 2016, section 3.2): from `previous` over `node`, a neighbour is
     * chosen with weight 1/p where it is `previous`, 1 where it is a neighbour of `previous`, else 1/q.
     *
     * <p>Each draw is of any neighbour, and stands with a chance proportional to its weight. That gives the same
     * distribution as tables of weights per edge, which take memory in the sum of squared degrees.
     */
    int[] walk(int start, int length, double p, double q, Random random) {
        double most = Math.max(1, Math.max(1 / p, 1 / q));
        int[] walk = new int[length];
        walk[0] = start;
        for (int step = 1; step < length; step++) {
            int node = walk[step - 1];
            while (true) {
                int next = neighbours[starts[node] + random.nextInt(degree(node))];
                walk[step] = next;
                if (step == 1) break;
                int previous = walk[step - 2];
                double weight = next == previous ? 1 / p : q == 1 || areNeighbours(previous, next) ? 1 : 1 / q;
                if (weight >= most || random.nextDouble() * most < weight) break;
            }
        }
        return walk;
    }

    private boolean areNeighbours(int node, int other) {
        return Arrays.binarySearch(neighbours, starts[node], starts[node + 1], other) >= 0;
    }
}
