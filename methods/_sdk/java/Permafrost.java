import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What every method in Java stands on, whatever its benchmark: the job comes in, the answer goes out. Reading and
 * measuring are done here, once, so that a method holds nothing but its algorithm. Java has no generator of the
 * whole program that could be seeded: a method makes its own from the problem's seed.
 */
final class Permafrost {
    private Permafrost() {}

    /** What a benchmark's own file does with a job. */
    interface Work<P, A> {
        /** How many models are fitted. */
        int models();

        /** What fitPredict gets; model counts from 0. */
        P problem(int model);

        /** Take what is asked for out of an answer. */
        void keep(int model, A answer) throws IOException;

        /** Write the answer's files, and to `report` what method.json says beside what is measured. */
        void finish(JsonObject report) throws IOException;
    }

    /** How a benchmark's work on a job begins. */
    interface Begin<P, A> {
        Work<P, A> begin(Job job) throws IOException;
    }

    /** A method. */
    interface Method<P, A> {
        A fitPredict(P problem) throws Exception;
    }

    /**
     * Do the job in $PERMAFROST_IN (/in) and write its answer to $PERMAFROST_OUT (/out). A failure is one line on
     * the standard error and exit code 1.
     */
    static <P, A> void perform(Begin<P, A> begin, Method<P, A> method) {
        try {
            fit(new Job(folder("PERMAFROST_IN", "/in"), folder("PERMAFROST_OUT", "/out")), begin, method);
        } catch (OutOfMemoryError failure) {
            long heap = Runtime.getRuntime().maxMemory() >> 20;
            end("out of memory: the heap of " + heap + " MiB, four fifths of the memory limit, is full", failure);
        } catch (Exception | StackOverflowError | AssertionError failure) {
            end(failure.getMessage() == null ? failure.getClass().getName() : failure.getMessage(), failure);
        }
    }

    private static <P, A> void fit(Job job, Begin<P, A> begin, Method<P, A> method) throws Exception {
        Work<P, A> work = begin.begin(job);
        JsonArray fit = new JsonArray();
        JsonArray predict = new JsonArray();
        for (int model = 0; model < work.models(); model++) {
            P problem = work.problem(model);
            long started = System.nanoTime();
            A answer = method.fitPredict(problem);
            fit.add(secondsSince(started));
            started = System.nanoTime();
            work.keep(model, answer);
            predict.add(secondsSince(started));
        }
        JsonObject report = new JsonObject();
        work.finish(report);
        JsonObject seconds = new JsonObject();
        seconds.add("fit", fit);
        seconds.add("predict", predict);
        JsonObject versions = new JsonObject();
        versions.addProperty("java", Runtime.version().toString());
        report.addProperty("protocol", 1);
        report.add("seconds", seconds);
        report.add("warnings", new Gson().toJsonTree(job.warnings));
        report.addProperty("cpu_seconds", cpuSeconds());
        report.addProperty("peak_memory_bytes", highWaterMark());
        report.add("versions", versions);
        // last, so that a method.json says that everything before it was written
        String text = new GsonBuilder().setPrettyPrinting().serializeNulls().create().toJson(report);
        Files.writeString(job.out.resolve("method.json"), text + "\n");
    }

    private static void end(String message, Throwable failure) {
        StackTraceElement[] calls = failure.getStackTrace();
        String where = "";
        if (calls.length > 0) {
            String call = calls[0].getClassName() + "." + calls[0].getMethodName();
            where = " (" + call + ", line " + calls[0].getLineNumber() + ")";
        }
        System.err.println(message.strip().replaceAll("\\s+", " ") + where);
        System.exit(1);
    }

    private static double secondsSince(long nanoseconds) {
        return (System.nanoTime() - nanoseconds) / 1e9;
    }

    /** Of all threads; Java's own bean for it fails where there is no control group to look at. */
    private static double cpuSeconds() throws IOException {
        String text = Files.readString(Path.of("/proc/self/stat"));
        // behind the program's name, which may hold blanks: user and system time in hundredths
        String[] fields = text.substring(text.lastIndexOf(')') + 2).split(" ");
        return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / 100.0;
    }

    /** VmHWM: the most memory this process held at once. */
    private static long highWaterMark() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) return 1024 * Long.parseLong(line.replaceAll("[^0-9]", ""));
        }
        return 0;
    }

    private static Path folder(String variable, String fallback) {
        String name = System.getenv(variable);
        return Path.of(name == null || name.isEmpty() ? fallback : name);
    }
}
