import java.util.ArrayList;
import java.util.Arrays;
import libsvm.svm;
import libsvm.svm_model;
import libsvm.svm_node;
import libsvm.svm_parameter;
import libsvm.svm_problem;
import weka.classifiers.Classifier;
import weka.classifiers.trees.J48;
import weka.classifiers.trees.RandomForest;
import weka.core.Attribute;
import weka.core.FastVector;
import weka.core.Instance;
import weka.core.Instances;

/** What tells bindings from other pairs by their vectors: the chance that each of some pairs is a binding. */
interface PairClassifier {
    double[] probabilities(double[][] vectors) throws Exception;

    /** Fit the classifier of this name to pairs of which the first ones bind. */
    static PairClassifier fitted(String name, double[][] vectors, int bindings, int trees, long seed)
        throws Exception {
        return switch (name) {
            case "svm" -> vectorMachine(vectors, bindings, seed);
            case "logistic" -> new LogisticRegression(vectors, bindings);
            case "forest" -> {
                RandomForest forest = new RandomForest();
                forest.setNumTrees(trees);
                yield weka(forest, vectors, bindings);
            }
            case "j48" -> weka(new J48(), vectors, bindings);
            default -> throw new IllegalArgumentException("there is no classifier '" + name + "'");
        };
    }

    /**
     * LIBSVM's C-SVC with a Gaussian kernel and Weka's defaults; its chances come from folds that the seed draws.
     */
    private static PairClassifier vectorMachine(double[][] vectors, int bindings, long seed) {
        svm_problem problem = new svm_problem();
        problem.l = vectors.length;
        problem.x = Arrays.stream(vectors).map(PairClassifier::nodes).toArray(svm_node[][]::new);
        problem.y = new double[vectors.length];
        Arrays.fill(problem.y, 0, bindings, 1);
        svm_parameter parameters = new svm_parameter();
        parameters.svm_type = svm_parameter.C_SVC;
        parameters.kernel_type = svm_parameter.RBF;
        parameters.gamma = 1.0 / vectors[0].length;
        parameters.C = 1;
        parameters.eps = 1e-3;
        parameters.shrinking = 1;
        parameters.probability = 1;
        parameters.cache_size = 256;
        svm.svm_set_print_string_function(text -> {});
        svm.rand.setSeed(seed);
        svm_model model = svm.svm_train(problem, parameters);
        int binds = model.label[0] == 1 ? 0 : 1;
        return others -> {
            double[] chances = new double[2];
            double[] answers = new double[others.length];
            for (int row = 0; row < others.length; row++) {
                svm.svm_predict_probability(model, nodes(others[row]), chances);
                answers[row] = chances[binds];
            }
            return answers;
        };
    }

    /** LIBSVM leaves zeros out. */
    private static svm_node[] nodes(double[] vector) {
        ArrayList<svm_node> nodes = new ArrayList<>();
        for (int at = 0; at < vector.length; at++) {
            if (vector[at] == 0) continue;
            svm_node node = new svm_node();
            node.index = at + 1;
            node.value = vector[at];
            nodes.add(node);
        }
        return nodes.toArray(svm_node[]::new);
    }

    private static PairClassifier weka(Classifier classifier, double[][] vectors, int bindings) throws Exception {
        Instances data = table(vectors[0].length, vectors.length);
        for (int row = 0; row < vectors.length; row++) add(data, vectors[row], row < bindings);
        classifier.buildClassifier(data);
        return others -> positive(classifier, others);
    }

    /** An empty table of Weka: numbers, and whether it is a binding as the class. */
    static Instances table(int columns, int capacity) {
        FastVector attributes = new FastVector();
        for (int column = 0; column < columns; column++) attributes.addElement(new Attribute("x" + column));
        FastVector classes = new FastVector();
        classes.addElement("false");
        classes.addElement("true");
        attributes.addElement(new Attribute("binds", classes));
        Instances data = new Instances("pairs", attributes, capacity);
        data.setClassIndex(columns);
        return data;
    }

    static void add(Instances data, double[] vector, boolean binds) {
        double[] values = Arrays.copyOf(vector, vector.length + 1);
        values[vector.length] = binds ? 1 : 0;
        data.add(new Instance(1, values));
    }

    /** What a classifier of Weka says of the class true. */
    static double[] positive(Classifier classifier, double[][] vectors) throws Exception {
        Instances data = vectors.length > 0 ? table(vectors[0].length, 1) : null;
        double[] answers = new double[vectors.length];
        for (int row = 0; row < vectors.length; row++) {
            add(data, vectors[row], false);
            answers[row] = classifier.distributionForInstance(data.instance(0))[1];
            data.delete();
        }
        return answers;
    }
}
