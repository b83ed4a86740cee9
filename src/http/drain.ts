import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { Connection } from './slow-readers.ts';

/** How often the connections are counted, ms, and how often in a row there have to be none before no client comes back. */
const LOOK_MS = 25;
const EMPTY_LOOKS = 12;

/** Close a server without cutting off a client that has just sent a request. */
export function createDrain(server: Server, connections: ReadonlyMap<Socket, Connection>) {
  let isClosing = false;
  let closesIdle = false;
  /**
   * Ask the client to close the connection after this answer. If the headers are sent already, the connection becomes idle.
   */
  const leaveAfter = (res: ServerResponse) => {
    res.shouldKeepAlive = false;
    // The connection only becomes idle after this turn.
    res.once('close', () => setImmediate(() => closesIdle && server.closeIdleConnections()));
  };
  const closeIdle = () => {
    closesIdle = true;
    server.closeIdleConnections();
  };
  /**
   * Answer new connections until the open ones have gone and their clients have not come back, at most for `ms`: a client that is
   * told to leave opens its next connection to this address, and one that waits to be accepted would be reset.
   */
  const untilLeft = async (ms: number): Promise<void> => {
    const untilMs = performance.now() + ms;
    if (connections.size === 0) return;
    // Looks are counted, not time: a process that was paused has not looked.
    for (let empty = 0; empty < EMPTY_LOOKS && performance.now() < untilMs; ) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      empty = connections.size > 0 ? 0 : empty + 1;
    }
    // After the turn in which Node accepts what waits.
    await new Promise(setImmediate);
  };
  return {
    answering: (res: ServerResponse) => {
      if (isClosing) leaveAfter(res);
    },
    close: async (graceMs: number, idleMs: number): Promise<void> => {
      isClosing = true;
      for (const { answer } of connections.values()) if (answer && !answer.closed) leaveAfter(answer);
      const cut = setTimeout(() => server.closeAllConnections(), graceMs);
      await untilLeft(idleMs);
      // `close` of node:net, because that of node:http closes idle connections at once.
      const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
      closeIdle();
      await closed;
      clearTimeout(cut);
      // Ends the interval in which Node checks the timeouts of requests: it would keep the server, and the service behind it.
      server.close(() => {});
    },
  };
}
