import fc from 'fast-check';

/** The quick tests draw the same cases in every run. The sweeps draw others, and print the seed of a failure. */
fc.configureGlobal({ seed: 20_261_120 });
