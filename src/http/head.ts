import { type IncomingMessage, ServerResponse, STATUS_CODES } from 'node:http';

/** Lines of a head, each with its end; names and values were checked by whoever made them. */
export type HeadLines = string;

/** An answer as Node keeps it: the head as one text that `writeHead` puts together and `end` sends. */
interface WithHead {
  _header: string | null;
}

/** Turn headers that do not come from a request into lines. @throws TypeError for what would break the head */
export function headLines(headers: Readonly<Record<string, string>>): HeadLines {
  let lines = '';
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[a-z-]+$/.test(name) || !/^[\x20-\x7e]*$/.test(value)) throw new TypeError(`not a header: ${name}`);
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}

export function statusLine(status: number): HeadLines {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n`;
}

/**
 * Whether answers of this runtime take a head as ready text. `writeHead` looks at every header of every answer again,
 * which costs more than all else that a small answer costs here; there is no public way around it. Where the text is not
 * kept as expected, `sendReady` must not be used.
 */
export function takesReadyHeads(): boolean {
  const probe = new ServerResponse({ method: 'GET', httpVersionMajor: 1, httpVersionMinor: 1 } as IncomingMessage);
  probe.writeHead(200, ['content-length', '0', 'date', 'now', 'connection', 'keep-alive']);
  const kept = (probe as unknown as Partial<WithHead>)._header;
  return kept === `${statusLine(200)}content-length: 0\r\ndate: now\r\nconnection: keep-alive\r\n\r\n`;
}

/**
 * Send an answer whose head is ready, empty line included. A body as text leaves in the same write as the head; it must be
 * latin1. Only for answers that leave the connection open, after `takesReadyHeads`.
 */
export function sendReady(res: ServerResponse, status: number, head: string, body?: Buffer | string): void {
  res.statusCode = status;
  const withHead = res as unknown as WithHead;
  if (typeof body === 'string') {
    withHead._header = head + body;
    res.end();
  } else {
    withHead._header = head;
    res.end(body);
  }
}
