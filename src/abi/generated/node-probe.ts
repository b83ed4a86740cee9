// Generated from contracts/product/NodeProbe.sol by `npm run generate`.

/** Creation code of the contract that checks whether a node runs code as its chain does. */
export const NODE_PROBE_CODE =
  '0x608060405260015f5401805f55466080528060a05250604060805f5e60405f2060081c5f5260205fa060205ff3fe';
