/** Parameters that differ between deployments of FlashLeverage; shares in WAD. */
export interface DeploymentSettings {
  readonly liquidationBuffer: bigint;
  /** Share of the yield of correlated markets; at most 10 %. */
  readonly yieldFee: bigint;
  /** Share of deposits into uncorrelated markets; at most 1 %. */
  readonly depositFee: bigint;
}

/** As the interface shows it: 0.25 points of buffer and 5 % of the yield. */
export const defaultDeployment: DeploymentSettings = {
  liquidationBuffer: 2_500_000_000_000_000n,
  yieldFee: 50_000_000_000_000_000n,
  depositFee: 0n,
};
