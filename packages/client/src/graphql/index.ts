export { POSSIBLE_TYPES, VALUE_TYPES } from '../generated/cache-types.ts';
export type * from '../generated/graphql.ts';
export * from '../generated/graphql.ts';
export { SCALARS } from './scalars.ts';
export type { TypedDocument } from './typed-document.ts';
