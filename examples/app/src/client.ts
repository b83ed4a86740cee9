// An app of your own imports '@spiral-gateway/client'. This one is built inside of the repository, from the package's sources.
export * from '../../../packages/client/src/index.ts';
export { trustedChains } from '../../../packages/client/src/verify/index.ts';
