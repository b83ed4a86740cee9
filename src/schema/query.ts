import { builder } from './builder.ts';

builder.queryType({ description: 'Everything that can be asked. Nothing here changes anything.' });
