// An app of your own imports '@spiral-gateway/client'. This one is built inside of the repository, from the package's sources.
export { flashLeverageAbi } from '../../../packages/client/src/abi/index.ts';
export * from '../../../packages/client/src/index.ts';
export { type Intent, type TrustedMarket, trustedChains, verify } from '../../../packages/client/src/verify/index.ts';
