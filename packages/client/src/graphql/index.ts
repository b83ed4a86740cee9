export type * from '../generated/graphql.ts';
export * from '../generated/graphql.ts';
export { SCALARS } from './scalars.ts';
export type { TypedDocument } from './typed-document.ts';
