import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { Connection } from './slow-readers.ts';

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
  return {
    answering: (res: ServerResponse) => {
      if (isClosing) leaveAfter(res);
    },
    close: async (graceMs: number, idleMs: number): Promise<void> => {
      isClosing = true;
      for (const { answer } of connections.values()) if (answer && !answer.closed) leaveAfter(answer);
      // `close` of node:net, because that of node:http closes idle connections at once.
      const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
      if (idleMs === 0) closeIdle();
      const idle = setTimeout(closeIdle, idleMs);
      const cut = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(idle);
      clearTimeout(cut);
      // Ends the interval in which Node checks the timeouts of requests: it would keep the server, and the service behind it.
      server.close(() => {});
    },
  };
}
