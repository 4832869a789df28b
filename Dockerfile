# The one recipe all images are built from. `harness image build` makes the context (parts checked against the locks) and
# calls an engine with the network off; the same file serves BuildKit and Buildah.
#
#   bootstrap -> base                           from nothing but locked Debian packages
#   BASE -> debian -> python|octave|r|java      one environment on top of the one it extends; the CPU and the CUDA
#                                               variant differ in the wheels the context holds (ACCELERATOR says which)
#   COMPILER -> wheels                          what is locked as source, compiled; the harness takes the wheels out of it
#   BASE -> debian -> conda                     a conda prefix; a second build with this as BASE sets the language
#   ENVIRONMENT -> method                       a method's code, and nothing else, on top of its environment
ARG BASE=scratch
ARG ENVIRONMENT=scratch
# An environment that can unpack conda packages; only for target `conda`.
ARG CONDA_INSTALLER=scratch
# An environment that can compile; only for target `wheels`.
ARG COMPILER=scratch

FROM scratch AS bootstrap
ARG SOURCE_DATE_EPOCH
ADD stage0.tar /
RUN --mount=type=bind,target=/mnt sh /mnt/recipe/bootstrap.sh

# One clean layer: what the bootstrap deleted does not travel along.
FROM scratch AS base
COPY --from=bootstrap / /
ENV PATH=/opt/venv/bin:/opt/conda/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    LC_ALL=C.UTF-8 TZ=UTC HOME=/tmp PERMAFROST_SDK=/opt/sdk \
    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 OPENBLAS_CORETYPE=Haswell MKL_NUM_THREADS=1 MKL_CBWR=COMPATIBLE
USER 65534:65534
WORKDIR /tmp

FROM ${BASE} AS debian
ARG SOURCE_DATE_EPOCH
USER 0:0
RUN --mount=type=bind,target=/mnt sh /mnt/recipe/packages.sh
USER 65534:65534

FROM ${COMPILER} AS wheels
ARG SOURCE_DATE_EPOCH
USER 0:0
RUN --mount=type=bind,target=/mnt sh /mnt/recipe/sources.sh

FROM ${CONDA_INSTALLER} AS conda-prefix
ARG SOURCE_DATE_EPOCH
USER 0:0
RUN --mount=type=bind,target=/mnt sh /mnt/recipe/conda.sh

FROM debian AS conda
COPY --from=conda-prefix /opt/conda /opt/conda

# tini is process 1: it passes signals on and reaps orphans. The static one, which no variable of the loader reaches.
FROM debian AS python
ARG SOURCE_DATE_EPOCH
ARG ACCELERATOR=cpu
USER 0:0
RUN --mount=type=bind,target=/mnt sh /mnt/recipe/wheels.sh
# CUBLAS_WORKSPACE_CONFIG: without it some CUDA sums are not repeatable.
ENV PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 PYTHONPATH=/opt/sdk \
    NUMEXPR_NUM_THREADS=1 CUBLAS_WORKSPACE_CONFIG=:4096:8 PERMAFROST_ACCELERATOR=${ACCELERATOR}
USER 65534:65534
ENTRYPOINT ["/usr/bin/tini-static", "--", "python3", "/opt/method/main.py"]

FROM debian AS octave
ENV OCTAVE_PATH=/opt/method:/opt/sdk
ENTRYPOINT ["/usr/bin/tini-static", "--", "octave-cli", "--no-init-file", "--no-site-file", "--no-window-system", \
    "--no-history", "--quiet", "/opt/method/main.m"]

FROM debian AS r
ENTRYPOINT ["/usr/bin/tini-static", "--", "Rscript", "--vanilla", "/opt/method/main.R"]

# A method is compiled as its container starts, which takes two seconds: so what lies in an image is its source text.
# The heap ends below the container's limit, which the harness shows as the machine's memory: the runtime needs some, too.
FROM debian AS java
ENV CLASSPATH=/tmp/classes:/usr/share/java/*
ENTRYPOINT ["/usr/bin/tini-static", "--", "sh", "-ec", "java -XX:+UseSerialGC -XX:ActiveProcessorCount=1 -XX:-UsePerfData -XX:TieredStopAtLevel=1 \
-m jdk.compiler/com.sun.tools.javac.Main -d /tmp/classes -encoding UTF-8 -proc:none \
-sourcepath ${PERMAFROST_UPSTREAM:+$PERMAFROST_UPSTREAM:}/opt/method:/opt/sdk /opt/method/main.java; \
exec java -XX:+UseSerialGC -XX:ActiveProcessorCount=1 -XX:-UsePerfData -Djava.awt.headless=true \
-Xmx$(awk '/^MemTotal/ {print int($2 * 0.8)}' /proc/meminfo)k Main"]

FROM ${ENVIRONMENT} AS method
COPY sdk /opt/sdk
COPY method /opt/method
