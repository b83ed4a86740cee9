# The service without its local world, on the newest even release of Node: CI tests it there (npm run test:newest-node).
# The list of the packages that the bundle contains. npm names it after the folder.
FROM node:26-bookworm-slim AS packages
WORKDIR /spiral-gateway
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional --no-progress
# The list is read from what is installed: told to omit, npm also omits packages that others name as optional, two thirds of them.
RUN npm pkg delete devDependencies optionalDependencies workspaces overrides.openapi-typescript \
 && npm sbom --sbom-format=cyclonedx --sbom-type=application > sbom.cdx.json

FROM node:26-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-progress
COPY . .
RUN npm run build -- --without-local-world

FROM node:26-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8787
WORKDIR /app
# Owned by root: the process cannot change its own code. It writes nothing unless SNAPSHOT_FILE names a file in /data: a volume
# that is mounted there gets the owner of this folder.
RUN install -d -o node -g node /data
COPY --from=packages /spiral-gateway/sbom.cdx.json ./
COPY --from=build /src/package.json ./
COPY --from=build /src/dist ./dist
USER node
EXPOSE 8787
# Liveness only: a process that is not ready is taken out by its load balancer, not restarted.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node"]
CMD ["dist/main.js"]
