import { builder } from './builder.ts';

builder.queryType({
  description:
    'All reads. None of them changes anything. Fields that need an API key take it in the header `Authorization: Bearer <API_KEY>`; a document with one of them is refused as a whole without it.',
});
