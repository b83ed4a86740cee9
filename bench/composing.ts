export async function composing(_sizes: readonly number[]): Promise<void> {}
