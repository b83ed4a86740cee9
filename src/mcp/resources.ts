import type { Resource, ResourceTemplateType } from '@modelcontextprotocol/server';
import { ERROR_CODES, type ErrorCode } from '../shared/errors.ts';
import { nextStepOf } from './next-steps.ts';

const JSON_TYPE = 'application/json';
const MARKDOWN_TYPE = 'text/markdown';

/** A guide of the service. */
export interface Guide {
  /** Name in paths, e.g. `partners`. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly markdown: string;
}

/** Content of a resource: a text, or the answer of a tool. */
export type ResourceSource =
  | { readonly mimeType: string; readonly text: () => Promise<string> | string }
  | { readonly mimeType: string; readonly tool: string; readonly args: Readonly<Record<string, unknown>> };

export interface Resources {
  readonly listed: readonly Resource[];
  readonly templates: readonly ResourceTemplateType[];
  /** `undefined` = no resource has this URI. */
  find(uri: string): ResourceSource | undefined;
}

/** As many as a tool returns at most. */
const CATALOG_LIMIT = 100;
const CHAIN_URI = /^spiral:\/\/chains\/([1-9]\d{0,8})\/(strategies|markets)$/;
const STRATEGY_URI = /^spiral:\/\/strategies\/([A-Za-z0-9-]{1,80})$/;
const LISTS: Readonly<Record<string, string>> = { strategies: 'list_strategies', markets: 'list_markets' };

/** The catalog, the error codes and the guides as resources. URIs name entries of tables; none is a path of a file. */
export function createResources(guides: readonly Guide[], chainIds: readonly number[]): Resources {
  const texts = new Map<string, ResourceSource>([
    ['spiral://errors', { mimeType: JSON_TYPE, text: errorsText }],
    ...guides.map(
      ({ name, markdown }) => [`spiral://docs/${name}`, { mimeType: MARKDOWN_TYPE, text: () => markdown }] as const,
    ),
  ]);
  return {
    listed: [
      ...chainIds.flatMap((chainId) => Object.keys(LISTS).map((list) => catalogOf(chainId, list))),
      {
        uri: 'spiral://errors',
        name: 'errors',
        title: 'Error codes',
        description: 'Each error code of a tool, whether a retry can succeed, and the next step.',
        mimeType: JSON_TYPE,
      },
      ...guides.map(({ name, title, description }) => ({
        uri: `spiral://docs/${name}`,
        name,
        title,
        description,
        mimeType: MARKDOWN_TYPE,
      })),
    ],
    templates: [
      {
        uriTemplate: 'spiral://strategies/{id}',
        name: 'strategy',
        title: 'A strategy',
        description: 'One strategy by its market id or the id of its vault, as get_strategy answers it.',
        mimeType: JSON_TYPE,
      },
      ...Object.keys(LISTS).map((list) => ({
        uriTemplate: `spiral://chains/{chainId}/${list}`,
        name: list,
        title: `The ${list} of a chain`,
        description: `Up to ${CATALOG_LIMIT} ${list} of one chain with their main fields, as ${LISTS[list]} answers them.`,
        mimeType: JSON_TYPE,
      })),
    ],
    find(uri) {
      const text = texts.get(uri);
      if (text !== undefined) return text;
      const [, chainId, list = ''] = CHAIN_URI.exec(uri) ?? [];
      const tool = LISTS[list];
      if (chainId !== undefined && tool !== undefined) {
        return { mimeType: JSON_TYPE, tool, args: { chainId: Number(chainId), limit: CATALOG_LIMIT } };
      }
      const [, id] = STRATEGY_URI.exec(uri) ?? [];
      return id === undefined ? undefined : { mimeType: JSON_TYPE, tool: 'get_strategy', args: { id } };
    },
  };
}

function catalogOf(chainId: number, list: string): Resource {
  return {
    uri: `spiral://chains/${chainId}/${list}`,
    name: `${list}-${chainId}`,
    title: `The ${list} of chain ${chainId}`,
    mimeType: JSON_TYPE,
  };
}

function errorsText(): string {
  const codes = Object.entries(ERROR_CODES).map(([code, { retryable }]) => ({
    code,
    retryable,
    nextStep: nextStepOf({ code: code as ErrorCode }),
  }));
  return JSON.stringify({ errors: codes });
}
