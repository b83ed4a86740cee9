export { equityRouterAbi } from './generated/equity-router.ts';
export { erc20Abi } from './generated/erc20.ts';
export { flashLeverageAbi } from './generated/flash-leverage.ts';
export { flashLeverageRouterAbi } from './generated/flash-leverage-router.ts';
export { morphoBlueAbi } from './generated/morpho-blue.ts';
export { userProxyAbi } from './generated/user-proxy.ts';
