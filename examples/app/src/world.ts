/** The facts of the local world for the app: its chains, its accounts and a sample key. `GET /app/world.json`. */
export interface World {
  readonly apiKey: string;
  readonly accounts: readonly string[];
  readonly chains: readonly LocalChain[];
}

export interface LocalChain {
  readonly chainId: number;
  readonly name: string;
  readonly rpcUrl: string;
}

export async function readWorld(): Promise<World> {
  const response = await fetch('world.json');
  if (!response.ok) throw new Error(`The local world does not answer (status ${response.status}).`);
  return response.json();
}
