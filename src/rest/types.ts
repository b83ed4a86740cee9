import type { ExecutionResult } from 'graphql';
import type { z } from 'zod';
import type { CacheValidity } from '../shared/cache-validity.ts';
import type { Deprecation } from '../shared/contract/deprecation.ts';
import type { ErrorCode } from '../shared/errors.ts';
import type { AnswerSchema } from './openapi/json-schema.ts';

/** Version in the OpenAPI document. */
export const INTERFACE_VERSION = '0.1.0';

/** A persisted operation: what runs, and the same with the marks of its row. */
export interface PersistedDocument {
  readonly sha256: string;
  readonly document: string;
  readonly row: string;
}

/** A request in the form that every transport provides. Header names are lower case. */
export interface RestRequest {
  readonly method: string;
  /** Path as received, still percent-encoded, without the query. */
  readonly path: string;
  /** Query as received, without the question mark. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /**
   * Read the body, at most `limit` bytes.
   * @throws AppError payload_too_large
   */
  readonly body: (limit: number) => Promise<Uint8Array>;
  readonly correlationId: string;
  /** Address of the client behind the trusted proxies. */
  readonly clientIp: string;
  /** Make the signal that is aborted when the client disconnects. Absent where that is not known. */
  readonly left?: (() => AbortSignal) | undefined;
  /** Whether it is answered only with a valid key: its connection is one too many without. Absent = no. */
  readonly needsKey?: boolean | undefined;
}

export interface RestResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The status of the client's budget as headers, written before the others. */
  readonly budget?: Readonly<Record<string, string>> | undefined;
  /** Headers about the encoding of a body that is made for one caller, once it is chosen; they are joined with the others. */
  readonly encoded?: Readonly<Record<string, string>> | undefined;
  /** The row that has answered, for metrics and logs. Absent: its path tells it. */
  readonly route?: string | undefined;
  /** The whole body, or parts that are sent in order. */
  readonly body: string | Uint8Array | readonly Uint8Array[];
}

/** A response with a streamed body. */
export interface StreamResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly budget?: Readonly<Record<string, string>> | undefined;
  /** As of a response. */
  readonly route?: string | undefined;
  /** Read as fast as the caller takes it, and ended when the caller disconnects. */
  readonly stream: AsyncIterable<string | Uint8Array>;
  /** Whether the parts are events, which must not wait in a compressor for more bytes. */
  readonly isEvents?: boolean | undefined;
}

/** A new response and its cache validity; without `validity` it is not cached. */
export interface MadeResponse {
  readonly response: RestResponse;
  readonly validity?: CacheValidity | undefined;
}

/** Cached answers of public rows. */
export interface RowCache {
  /**
   * Answer a GET or HEAD of a public row from the cache, or with the result of `make`, which concurrent requests share.
   * @param make gets the signal that is aborted when all of these have left
   */
  answer(request: RestRequest, make: (left: () => AbortSignal) => Promise<MadeResponse>): Promise<RestResponse>;
}

/** A request after the gateway. */
export interface Entry {
  /** Error of a refused request; `null` = admitted. */
  readonly refusal: unknown;
  /** Headers for its answer: the current status of the client's budget. */
  readonly headers: () => Readonly<Record<string, string>>;
  /** Wait in the fair queue. */
  readonly turn: () => Promise<void>;
  /** Refund the charge for an execution that does not begin. Never rejects. */
  readonly giveBack: () => Promise<void>;
  /** Whether it has a key: its answer is then private. */
  readonly keyed: boolean;
}

/** Check a request's key and budget; `route` is `null` when there is no row at its path. */
export type AdmitPort<E extends Entry> = (
  request: RestRequest,
  route: { readonly surface: RestSurface; readonly operation: string } | null,
) => Promise<E>;

/** Run a persisted operation through the same pipeline as `/graphql`. */
export type ExecutePort<E extends Entry> = (call: {
  readonly operation: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly entry: E;
  /** When nobody waits for the result any more: it is then not begun. Absent: when the client of the entry has left. */
  readonly left?: (() => AbortSignal) | undefined;
}) => Promise<{
  readonly result: ExecutionResult<unknown, Readonly<Record<string, unknown>>>;
  /** Cache validity of the result; absent: it is not cached. */
  readonly validity?: CacheValidity | undefined;
  /** Execute the operation with other variables in the same context, for the next page. It is not charged or limited again. */
  readonly again: (
    variables: Readonly<Record<string, unknown>>,
  ) => Promise<ExecutionResult<unknown, Readonly<Record<string, unknown>>>>;
}>;

export type RestSurface = 'Public' | 'Partner' | 'Ops' | 'Status';

/** A file that a row answers to `Accept: text/csv`. */
export interface CsvFile {
  /** Without its end. */
  readonly name: string;
  /** With a header row. */
  readonly text: string;
}

export interface RouteExample {
  readonly summary: string;
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
}

/** A row as a tool of the Model Context Protocol. Arguments, output and errors are those of the row. */
export interface RowTool {
  /** Name of the tool, e.g. `list_strategies`. */
  readonly name: string;
  /** Lists of the body, of which an answer has a page. */
  readonly list?: ToolList | undefined;
  /** What the tool answers unless the caller asks for all fields. */
  readonly brief?: BriefAnswer | undefined;
  /** Defaults of parameters that differ from those of the row, because an answer is read by a model. */
  readonly defaults?: Readonly<Record<string, number | string>> | undefined;
}

/** A smaller answer to the input of a row, by an operation of its own. */
export interface BriefAnswer {
  /** Name of the persisted operation. */
  readonly operation: string;
  /** Project the data of the operation. A method, so that the types of the data may differ. */
  project(data: unknown, input: RowInput<unknown, unknown>): unknown;
  readonly response: AnswerSchema;
}

/** Lists of one length in a row's body, which a tool returns page by page. */
export interface ToolList {
  readonly fields: readonly string[];
  /** Default number of items. */
  readonly limit: number;
  /** Whether the last items come first, as in histories. The items of a page stay in order of time. */
  readonly newestFirst?: boolean | undefined;
}

/** Paging of the list in a row's body. The list is the last member of the body, and its items come from `project`. */
export interface RoutePages<Data> {
  /** Name of the list. */
  readonly list: string;
  /** Variables of the page after the one with this data; `null` = there is none. */
  readonly next: (data: Data) => Readonly<Record<string, unknown>> | null;
}

/** The location and value of a sent field, by the location of a part of it. */
export type SentAs = Readonly<Record<string, { readonly field: string; readonly value: string }>>;

/** The parsed input of a row. */
export interface RowInput<Params, Body> {
  readonly params: Params;
  readonly body: Body;
  /** The headers that the row takes. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/**
 * One row of the /v1 contract: the mapping from a path to the variables of a persisted operation, from its data to the frozen
 * body, and its documentation.
 */
export interface Route<Params = unknown, Body = unknown, Data = unknown> {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path template, e.g. `/v1/strategies/{id}`. */
  readonly path: string;
  readonly surface: RestSurface;
  readonly summary: string;
  readonly description: string;
  /** Name of the persisted operation. */
  readonly operation: string;
  /** Path and query parameters together, from strings to typed values. */
  readonly params: z.ZodType<Params>;
  /** Parameters of other rows that this one refuses, with the reason and the next step. */
  readonly refusedParams?: Readonly<Record<string, string>> | undefined;
  readonly body?: z.ZodType<Body> | undefined;
  /** Headers that are part of its input, by their names in lower case. */
  readonly headers?: z.ZodObject<Readonly<Record<string, z.ZodOptional<z.ZodString>>>> | undefined;
  /**
   * The body in the OpenAPI document, if it is more exact than `body`: a union of the valid combinations of fields. `body`
   * takes all fields together, so that a wrong combination gets an error that names the field.
   */
  readonly bodyForms?: z.ZodType | undefined;
  /**
   * The query as one named schema, for parameters that depend on each other, which the document cannot say of parameters. Clients
   * use it as the type of the query.
   */
  readonly queryForms?: z.ZodType | undefined;
  readonly variables: (input: RowInput<Params, Body>) => Readonly<Record<string, unknown>>;
  /**
   * Project the data of the operation to the frozen body.
   * @throws AppError (404 when the data is null)
   */
  readonly project: (data: Data, input: RowInput<Params, Body>) => unknown;
  /** Inputs that were sent as parts of another one: its location and value, by the location that an error names. */
  readonly sentAs?: (input: RowInput<Params, Body>) => SentAs;
  /** Set for a body that is too long for memory: it is streamed, and starts with the first page. */
  readonly pages?: RoutePages<Data> | undefined;
  /** Set for a row that also answers a file to `Accept: text/csv`, made of its body. */
  readonly csv?: ((body: unknown, input: { readonly params: Params }) => CsvFile) | undefined;
  readonly response: AnswerSchema;
  /** Errors of the row beside `internal`. */
  readonly errors: readonly ErrorCode[];
  readonly examples: readonly RouteExample[];
  /** Absent: the row is not a tool, because its answer is too long for one, or for operators only. */
  readonly tool?: RowTool | undefined;
  /** Set from the announcement of its end on. Fields of its answer carry their own, see `deprecated` in the schemas. */
  readonly deprecation?: Deprecation | undefined;
}

/** A row of the table with any types. */
export type AnyRoute = Route;

type BodyObject = Readonly<Record<string, unknown>>;

/** What a row answers beside the data of its operation. */
export interface Beside<Params, Body> {
  /** Values of its input that the body repeats. */
  readonly repeated?:
    | {
        readonly schema: z.ZodObject;
        readonly of: (input: RowInput<Params, Body>, body: BodyObject) => object;
        /** The field of the body that they follow; absent: they are the first. */
        readonly after?: string | undefined;
      }
    | undefined;
  /**
   * Check what was found. `null` = the object does not exist.
   * @throws AppError
   */
  readonly check?: ((body: BodyObject | null, input: RowInput<Params, Body>) => void) | undefined;
}

/** A row whose body is derived from its operation. */
export interface DerivedRoute<Params, Body>
  extends Omit<Route<Params, Body>, 'project' | 'response' | 'tool'>,
    Beside<Params, Body> {
  readonly tool?: (Omit<RowTool, 'brief'> & { readonly brief?: string | undefined }) | undefined;
}
