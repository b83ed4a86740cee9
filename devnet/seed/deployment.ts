/** What deployments of FlashLeverage differ in; shares in WAD. */
export interface DeploymentSettings {
  readonly liquidationBuffer: bigint;
  /** Of the yield of correlated markets; at most 10 %. */
  readonly yieldFee: bigint;
  /** Of what is paid into uncorrelated markets; at most 1 %. */
  readonly depositFee: bigint;
}

/** As the interface shows it: 0.25 points of buffer and 5 % of the yield. */
export const defaultDeployment: DeploymentSettings = {
  liquidationBuffer: 2_500_000_000_000_000n,
  yieldFee: 50_000_000_000_000_000n,
  depositFee: 0n,
};
