import { builder } from './builder.ts';

builder.queryType({ description: 'All reads. None of them changes anything.' });
