# The service with what it needs to run, and nothing to build it with.
FROM node:24.21.0-bookworm-slim AS dependencies
# The runtime that the lockfile brings needs it, here and below.
RUN apt-get update && apt-get install -y --no-install-recommends libatomic1 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev

# The console's packages are needed by its build alone.
FROM node:24.21.0-bookworm-slim AS console
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY src src
RUN node src/console/build.ts

FROM debian:12.12-slim
RUN apt-get update && apt-get install -y --no-install-recommends libatomic1 libstdc++6 \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --system --home-dir /var/lib/tollgate --create-home --shell /usr/sbin/nologin tollgate
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json ./
COPY schemas schemas
COPY docs docs
COPY src src
COPY deploy/tollgate-admin /usr/local/bin/tollgate-admin
COPY --from=console /app/src/console/dist src/console/dist
USER tollgate
ENV NODE_ENV=production DATA_DIR=/var/lib/tollgate
VOLUME /var/lib/tollgate
EXPOSE 8787
# What `npm start` runs, without npm between it and the signals.
CMD ["node_modules/.bin/node", "--max-semi-space-size=32", "--external-memory-accounted-in-global-limit", "--no-allocation-site-pretenuring", "--no-memory-reducer", "--expose-gc", "src/main.ts"]
