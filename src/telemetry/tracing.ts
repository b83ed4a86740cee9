import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Attributes,
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  ParentBasedSampler,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-node';
import { defaultFieldResolver, type GraphQLSchema } from 'graphql';
import { correlationIdOf } from '../shared/request-info.ts';

/** Spans from a request through its resolvers to its outgoing calls. They contain no caller, id or URL. */
export interface Tracing {
  /** Start a span per request. The correlation id is fixed here, so that span, log and answer have the same. */
  node(listener: NodeListener, routeOf: (path: string) => string): NodeListener;
  /** Wrap every root field of a schema in a span. Modifies the schema. */
  schema(schema: GraphQLSchema): GraphQLSchema;
  /** Wrap every call of a fetch in a span. `peerOf` returns the attributes of the called service. */
  fetch(inner: typeof fetch, peerOf: (url: string) => Attributes): typeof fetch;
  stop(): Promise<void>;
}

type NodeListener = (req: IncomingMessage, res: ServerResponse) => void;

export interface TracingOptions {
  /** Base URL of an OTLP/HTTP collector; traces go to `/v1/traces` below it. */
  readonly endpoint: string;
  readonly sampleRatio: number;
  readonly role: string;
  /** Replaces the exporter in tests. */
  readonly processor?: SpanProcessor | undefined;
}

const SERVICE = 'spiral-gateway';
/** Shorter than the time in which a stopping process closes its connections. */
const STOP_MS = 800;

/**
 * Start the SDK and export to the collector. Only this module imports the SDK, and it is loaded only where tracing is on.
 */
export function startTracing(options: TracingOptions): Tracing {
  const exporting = (): SpanProcessor =>
    new BatchSpanProcessor(new OTLPTraceExporter({ url: `${options.endpoint.replace(/\/+$/, '')}/v1/traces` }));
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': SERVICE, 'service.instance.role': options.role }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(options.sampleRatio) }),
    spanProcessors: [options.processor ?? exporting()],
  });
  provider.register();
  const tracer = provider.getTracer(SERVICE);
  return {
    node: (listener, routeOf) => traceNode(tracer, listener, routeOf),
    schema: (schema) => traceRootFields(tracer, schema),
    fetch: (inner, peerOf) => traceFetch(tracer, inner, peerOf),
    async stop() {
      // A collector that does not answer must not delay the stop.
      const late = new Promise<void>((resolve) => setTimeout(resolve, STOP_MS).unref());
      await Promise.race([provider.shutdown().catch(() => {}), late]);
      trace.disable();
      context.disable();
      propagation.disable();
    },
  };
}

function traceNode(tracer: Tracer, listener: NodeListener, routeOf: (path: string) => string): NodeListener {
  return (req, res) => {
    const route = routeOf((req.url ?? '/').split('?', 1)[0] ?? '/');
    const correlationId = correlationIdOf(req.headers['x-correlation-id']);
    req.headers['x-correlation-id'] = correlationId;
    const parent = propagation.extract(context.active(), req.headers);
    const span = tracer.startSpan(
      `${req.method} ${route}`,
      {
        kind: SpanKind.SERVER,
        attributes: {
          'http.request.method': req.method ?? '',
          'http.route': route,
          'spiral.correlation_id': correlationId,
        },
      },
      parent,
    );
    res.once('close', () => {
      span.setAttribute('http.response.status_code', res.statusCode);
      if (res.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
    context.with(trace.setSpan(parent, span), () => listener(req, res));
  };
}

function traceRootFields(tracer: Tracer, schema: GraphQLSchema): GraphQLSchema {
  for (const type of [schema.getQueryType(), schema.getMutationType()]) {
    for (const field of Object.values(type?.getFields() ?? {})) {
      const resolve = field.resolve ?? defaultFieldResolver;
      field.resolve = (source, args, ctx, info) =>
        within(tracer, `resolve ${type?.name}.${field.name}`, SpanKind.INTERNAL, {}, () =>
          resolve(source, args, ctx, info),
        );
    }
  }
  return schema;
}

function traceFetch(tracer: Tracer, inner: typeof fetch, peerOf: (url: string) => Attributes): typeof fetch {
  return (input, init) => {
    const url = typeof input === 'string' ? input : input instanceof URL ? input.href : input.url;
    const method = init?.method ?? 'GET';
    const attributes: Attributes = { 'http.request.method': method, ...peerOf(url) };
    return within(
      tracer,
      `${method} ${attributes['peer.service'] ?? 'other'}`,
      SpanKind.CLIENT,
      attributes,
      async (span) => {
        const response = await inner(input, init);
        span.setAttribute('http.response.status_code', response.status);
        if (response.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        return response;
      },
    );
  };
}

/** Run inside a span. Of an error only the kind is recorded, because messages may quote text from outside. */
function within<T>(tracer: Tracer, name: string, kind: SpanKind, attributes: Attributes, run: (span: Span) => T): T {
  return tracer.startActiveSpan(name, { kind, attributes }, (span) => {
    const failed = (error: unknown): void => {
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown');
      span.end();
    };
    let result: T;
    try {
      result = run(span);
    } catch (error) {
      failed(error);
      throw error;
    }
    if (!(result instanceof Promise)) {
      span.end();
      return result;
    }
    result.then(() => span.end(), failed);
    return result;
  });
}
