import { Command } from 'ioredis';
import driver from 'ioredis/built/DataHandler.js';

/** A part of the driver that its types leave out. */
interface Replies {
  dispatch(take: () => void): void;
  returnFatalError(error: Error): void;
}

/** A module of CommonJS: some loaders unwrap its default export. */
const Driver = 'prototype' in driver ? (driver as unknown as typeof driver.default) : driver.default;

/**
 * Let replies that do not fit their commands fail the commands and close the connection, as bytes that are not the protocol do.
 * The driver alone throws such an error where no caller catches it, which ends the process.
 */
export function closeOnUnfitReplies(): void {
  const replies = Driver.prototype as unknown as Replies;
  replies.dispatch = function dispatch(take) {
    try {
      take();
    } catch {
      this.returnFatalError(new Error('the server sent a reply that fits no command'));
    }
  };
}

/**
 * Let a cluster whose table of slots is malformed fail the command. The driver alone ends the process at a missing row, and a
 * range of a billion slots takes all memory.
 */
export function refuseMalformedSlots(): void {
  Command.setReplyTransformer('cluster', (reply: unknown) => {
    // Other commands about the cluster are answered with text.
    if (typeof reply === 'string' || (Array.isArray(reply) && reply.every(isRange))) return reply;
    throw new Error('the server sent no table of slots');
  });
}

const SLOTS = 16_384;
const MAX_PORT = 65_535;

function isRange(row: unknown): boolean {
  if (!Array.isArray(row)) return false;
  const [from, to, ...nodes] = row;
  return isUpTo(SLOTS - 1, from) && isUpTo(SLOTS - 1, to) && nodes.every((node) => Array.isArray(node) && isNode(node));
}

/** A node without a host is left out by the driver. */
function isNode([host, port]: readonly unknown[]): boolean {
  return !host || (typeof host === 'string' && isUpTo(MAX_PORT, port));
}

function isUpTo(max: number, value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max;
}
