import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * An array of the protocol: little-endian int8, uint8, int32, int64, float32 or float64, stored row by row in an
 * .npy file of version 1.0, with at most two dimensions.
 */
final class Npy {
    private static final byte[] MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    private static final Pattern HEADER =
        Pattern.compile("\\{'descr': '([^']*)', 'fortran_order': False, 'shape': \\(([0-9, ]*)\\), \\} *\n");
    private static final Pattern NUMBER = Pattern.compile("[0-9]+");

    /** The type as numpy writes it: |i1, |u1, <i4, <i8, <f4 or <f8. */
    final String type;
    final int[] shape;
    /** The numbers row by row: byte[], int[], long[], float[] or double[]. */
    final Object values;

    private Npy(String type, Object values, int[] shape) {
        this.type = type;
        this.values = values;
        this.shape = shape;
    }

    /** An array whose type follows from that of the numbers. */
    static Npy of(Object values, int... shape) {
        if (values instanceof byte[]) return new Npy("|i1", values, shape);
        if (values instanceof int[]) return new Npy("<i4", values, shape);
        if (values instanceof long[]) return new Npy("<i8", values, shape);
        if (values instanceof float[]) return new Npy("<f4", values, shape);
        if (values instanceof double[]) return new Npy("<f8", values, shape);
        throw new IllegalArgumentException(values.getClass().getSimpleName() + " is not part of the protocol");
    }

    /** An array of uint8. */
    static Npy ofUnsigned(byte[] values, int... shape) {
        return new Npy("|u1", values, shape);
    }

    static Npy read(Path path) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.LITTLE_ENDIAN);
        byte[] magic = new byte[Math.min(MAGIC.length, bytes.remaining())];
        bytes.get(magic);
        if (!Arrays.equals(magic, MAGIC) || bytes.remaining() < 2) {
            throw new IOException(path + ": not an .npy file, version 1.0");
        }
        byte[] text = new byte[Math.min(Short.toUnsignedInt(bytes.getShort()), bytes.remaining())];
        bytes.get(text);
        String header = new String(text, StandardCharsets.ISO_8859_1);
        Matcher parts = HEADER.matcher(header);
        int[] shape = parts.matches()
            ? NUMBER.matcher(parts.group(2)).results().mapToInt(one -> Integer.parseInt(one.group())).toArray()
            : new int[3];
        if (shape.length > 2 || sizeOf(parts.group(1)) == 0) {
            throw new IOException(path + ": " + header.strip() + " is not part of the protocol");
        }
        long count = count(shape);
        if (bytes.remaining() != count * sizeOf(parts.group(1))) {
            throw new IOException(path + ": holds " + bytes.remaining() + " bytes of numbers, its header says "
                + count * sizeOf(parts.group(1)));
        }
        return new Npy(parts.group(1), numbers(bytes, parts.group(1), (int) count), shape);
    }

    void write(Path path) throws IOException {
        int length = java.lang.reflect.Array.getLength(values);
        if (shape.length > 2 || count(shape) != length) {
            throw new IllegalArgumentException(
                path + ": " + length + " numbers do not have the shape " + Arrays.toString(shape));
        }
        String sizes = Arrays.stream(shape).mapToObj(Integer::toString).collect(Collectors.joining(", "));
        String header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': ("
            + sizes + (shape.length == 1 ? "," : "") + "), }";
        // the format wants the data to start at a multiple of 64 bytes
        header += " ".repeat(Math.floorMod(-(11 + header.length()), 64)) + "\n";
        ByteBuffer bytes = ByteBuffer.allocate(MAGIC.length + 2 + header.length() + length * sizeOf(type))
            .order(ByteOrder.LITTLE_ENDIAN);
        bytes.put(MAGIC).putShort((short) header.length()).put(header.getBytes(StandardCharsets.ISO_8859_1));
        switch (type) {
            case "<i4" -> bytes.asIntBuffer().put((int[]) values);
            case "<i8" -> bytes.asLongBuffer().put((long[]) values);
            case "<f4" -> bytes.asFloatBuffer().put((float[]) values);
            case "<f8" -> bytes.asDoubleBuffer().put((double[]) values);
            default -> bytes.put((byte[]) values);
        }
        Files.write(path, bytes.array());
    }

    /** The numbers of an int32 array. */
    int[] ints() {
        return (int[]) values;
    }

    /** The numbers of a float64 array. */
    double[] doubles() {
        return (double[]) values;
    }

    /** The rows of an int32 array of two dimensions. */
    int[][] intRows() {
        int[][] rows = new int[shape[0]][];
        for (int row = 0; row < rows.length; row++) {
            rows[row] = Arrays.copyOfRange(ints(), row * shape[1], (row + 1) * shape[1]);
        }
        return rows;
    }

    private static Object numbers(ByteBuffer bytes, String type, int count) {
        switch (type) {
            case "<i4": int[] ints = new int[count]; bytes.asIntBuffer().get(ints); return ints;
            case "<i8": long[] longs = new long[count]; bytes.asLongBuffer().get(longs); return longs;
            case "<f4": float[] floats = new float[count]; bytes.asFloatBuffer().get(floats); return floats;
            case "<f8": double[] doubles = new double[count]; bytes.asDoubleBuffer().get(doubles); return doubles;
            default: byte[] small = new byte[count]; bytes.get(small); return small;
        }
    }

    private static long count(int[] shape) {
        return Arrays.stream(shape).asLongStream().reduce(1, Math::multiplyExact);
    }

    /** Bytes of a number; 0 for a type that the protocol does not have. */
    private static int sizeOf(String type) {
        return switch (type) {
            case "|i1", "|u1" -> 1;
            case "<i4", "<f4" -> 4;
            case "<i8", "<f8" -> 8;
            default -> 0;
        };
    }
}
