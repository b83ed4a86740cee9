import { readFileSync } from 'node:fs';
import type { RowBytes } from '../rows.ts';
import { listen, serve } from '../serve.ts';

interface Answer {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  readonly etag: string | undefined;
}

/** The upper bound: node:http that reads the posted body, finds a buffer by its path and writes it. */
serve<readonly RowBytes[]>(async (rows) => {
  const answers = new Map<string, Answer>(
    rows.flatMap(({ name, file, headers, head, etag }) => {
      const body = readFileSync(file);
      return [
        [`/${name}`, { body, headers, etag }],
        [`/${name}/same`, { body, headers: head, etag }],
      ] as const;
    }),
  );
  return listen((req, res) => {
    const answer = answers.get(req.url ?? '');
    if (!answer) {
      res.writeHead(404).end();
    } else if (answer.etag !== undefined && req.headers['if-none-match'] === answer.etag) {
      res.writeHead(304, answer.headers).end();
    } else if (req.method === 'POST') {
      req.resume().once('end', () => res.writeHead(200, answer.headers).end(answer.body));
    } else {
      res.writeHead(200, answer.headers).end(answer.body);
    }
  });
});
