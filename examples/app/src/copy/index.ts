/** All words and numbers that a person reads go through this folder. */
export * from './amount.ts';
export * from './failure.ts';
export * from './numbers.ts';
export * from './review.ts';
export * from './words.ts';
