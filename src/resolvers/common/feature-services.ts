/** Services of features, each under its key. */
export type FeatureServices = ReadonlyMap<FeatureKey<object>, object>;

/** Part of the context of a resolver. */
interface Context {
  readonly services: { readonly features: FeatureServices };
  live(): unknown;
}

/** The key by which the resolvers of a feature reach its services: those of the core know none of them. */
export interface FeatureKey<T extends object> {
  readonly name: string;
  /** The services for reads on demand: the answer is never cached. @throws Error when the feature was not wired */
  of(ctx: Context): T;
  /** The services for reads whose validity the resolver notes in the cache hints itself. @throws as `of` */
  cached(ctx: Context): T;
  /** The entry for the services of the composition root, or of a test. */
  with(services: T): readonly [FeatureKey<object>, object];
}

/** Create the key of the services of a feature. */
export function featureKey<T extends object>(name: string): FeatureKey<T> {
  const key: FeatureKey<object> = {
    name,
    of(ctx) {
      ctx.live();
      return key.cached(ctx);
    },
    cached({ services: { features } }) {
      const services = features.get(key);
      if (services === undefined) throw new Error(`the feature ${name} is not wired`);
      return services;
    },
    with: (services) => [key, services],
  };
  return key as FeatureKey<T>;
}
