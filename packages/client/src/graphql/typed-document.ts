/**
 * A parsed GraphQL document with the types of its result and variables. The fields of the document are typed `never`, so
 * that it is a `DocumentNode` of every version of the `graphql` package, which this package does not depend on.
 */
export interface TypedDocument<Result, Variables> {
  readonly kind: never;
  readonly definitions: readonly never[];
  /** Only a type: read by Apollo Client, urql and others. */
  readonly __apiType?: (variables: Variables) => Result;
  /** Only a type: read by urql. */
  readonly __ensureTypesOfVariablesAndResultMatching?: (variables: Variables) => Result;
}
