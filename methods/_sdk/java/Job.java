import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** What lies in /in: job.json, arrays, and lists of values from JSON Lines. */
final class Job {
    final JsonObject document;
    final JsonObject parameters;
    /** The seed for generators: parameter `fit_seed` where the variant has one. */
    final long seed;
    final boolean trace;
    final Path out;
    /** What method.json shall warn of. */
    final TreeSet<String> warnings = new TreeSet<>();
    private final Map<String, Npy> arrays = new TreeMap<>();
    private final Map<String, List<JsonElement>> lists = new TreeMap<>();

    Job(Path in, Path out) throws IOException {
        this.out = out;
        document = parse(in.resolve("job.json"), Files.readString(in.resolve("job.json"))).getAsJsonObject();
        if (document.get("protocol").getAsInt() != 1) {
            throw new IOException(
                "the job speaks protocol " + document.get("protocol") + ", this method speaks 1");
        } else if (!document.get("task").getAsString().equals("predict")) {
            throw new IOException("this method has no task " + document.get("task"));
        }
        parameters = document.getAsJsonObject("parameters");
        seed = (parameters.has("fit_seed") ? parameters.get("fit_seed") : document.get("seed")).getAsLong();
        trace = document.has("trace") && document.get("trace").getAsBoolean();
        for (Map.Entry<String, JsonElement> input : document.getAsJsonObject("inputs").entrySet()) {
            Path path = in.resolve(input.getValue().getAsJsonObject().get("file").getAsString());
            if (path.toString().endsWith(".jsonl")) lists.put(input.getKey(), readJsonl(path));
            else arrays.put(input.getKey(), Npy.read(path));
        }
    }

    boolean has(String input) {
        return arrays.containsKey(input) || lists.containsKey(input);
    }

    /** An input that is an array. */
    Npy array(String input) {
        return present(arrays, input);
    }

    /** An input that is a list of texts. */
    List<String> texts(String input) {
        return present(lists, input).stream().map(JsonElement::getAsString).toList();
    }

    /** The values of a file of JSON Lines. */
    static List<JsonElement> readJsonl(Path path) throws IOException {
        List<JsonElement> values = new ArrayList<>();
        // only this character ends a line: a text may hold others that other readers take for one
        for (String line : Files.readString(path).split("\n")) {
            if (!line.isEmpty()) values.add(parse(path, line));
        }
        return values;
    }

    /** The same, outwards: one value a line. */
    static void writeJsonl(Path path, List<? extends JsonElement> values) throws IOException {
        StringBuilder lines = new StringBuilder();
        for (JsonElement value : values) lines.append(value).append('\n');
        Files.writeString(path, lines);
    }

    /** Arrays for the harness to compare with goldens, name by name. */
    void writeTraces(Map<String, Npy> traces) throws IOException {
        Files.createDirectories(out.resolve("trace"));
        for (Map.Entry<String, Npy> one : traces.entrySet()) {
            one.getValue().write(out.resolve("trace").resolve(one.getKey() + ".npy"));
        }
    }

    private static <T> T present(Map<String, T> inputs, String name) {
        if (!inputs.containsKey(name)) throw new IllegalArgumentException("there is no such input '" + name + "'");
        return inputs.get(name);
    }

    private static JsonElement parse(Path path, String text) throws IOException {
        try {
            return JsonParser.parseString(text);
        } catch (JsonParseException failure) {
            throw new IOException(path + ": " + failure.getMessage());
        }
    }
}
