/** OpenTelemetry traces: a span for each request and for each statement that it sends. Loaded only if configured. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { defaultTextMapGetter, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Context, Span, Tracer } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Sampler } from '@opentelemetry/sdk-trace';
import type { Config } from '../config.ts';
import { observeStatements } from '../database/observe-statements.ts';

export type Tracing = {
  /** The same listener, with a span around each request. */
  traced(listener: RequestListener): RequestListener;
  /** Exports pending spans. */
  close(): Promise<void>;
};

type Settings = Pick<Config, 'OTEL_TRACES_SAMPLER' | 'OTEL_TRACES_SAMPLER_ARG'>;

/** OpenTelemetry reads the endpoint, headers, timeouts, name and attributes from its own variables. */
export function startTracing(settings: Settings): Tracing {
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'proposal-api' }))
    .merge(detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }));
  const spanProcessors = [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })];
  const provider = new TracerProvider({ resource, spanProcessors, sampler: samplerOf(settings) });
  const tracer = provider.getTracer('proposal-api');
  const contexts = new AsyncLocalStorage<Context>();
  const stopObserving = observeStatements((name) => traceStatement(tracer, contexts.getStore(), name));
  return {
    traced: (listener) => (request, response) => {
      const span = startRequest(tracer, request);
      // Not sampled: the request pays for nothing more, and its statements find no context.
      if (!span.isRecording()) return listener(request, response);
      response.once('close', () => endRequest(span, response));
      contexts.run(trace.setSpan(ROOT_CONTEXT, span), () => {
        // Otherwise, what runs after the end of a body would have the connection's context.
        request.emit = AsyncLocalStorage.bind(request.emit.bind(request));
        listener(request, response);
      });
    },
    async close() {
      stopObserving();
      // An unreachable collector must not turn a clean stop into a failure.
      await provider.shutdown().catch(() => undefined);
    },
  };
}

function samplerOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio }: Settings): Sampler {
  const root = rootSampler(name.replace('parentbased_', ''), ratio);
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

function rootSampler(name: string, ratio: number): Sampler {
  if (name === 'traceidratio') return new TraceIdRatioBasedSampler(ratio);
  return name === 'always_on' ? new AlwaysOnSampler() : new AlwaysOffSampler();
}

const propagator = new W3CTraceContextPropagator();

/** Continues the caller's trace, if the request has a traceparent. */
function startRequest(tracer: Tracer, { method = '', headers }: IncomingMessage): Span {
  const parent = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
  return tracer.startSpan(method, { kind: SpanKind.SERVER, attributes: { 'http.request.method': method } }, parent);
}

function endRequest(span: Span, response: ServerResponse): void {
  const { statusCode } = response;
  span.setAttribute('http.response.status_code', statusCode);
  span.setAttribute('proposal_api.request_id', String(response.getHeader('x-request-id')));
  const operation: unknown = Reflect.get(Object(Reflect.get(response, 'locals')), 'operation');
  if (typeof operation === 'string') {
    span.updateName(operation);
    span.setAttribute('proposal_api.operation', operation);
  }
  if (statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

function traceStatement(tracer: Tracer, parent: Context | undefined, name: string): (error?: unknown) => void {
  // Housekeeping belongs to no request.
  if (!parent) return () => undefined;
  const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': name };
  const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, parent);
  return (error) => {
    if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
    const code: unknown = Reflect.get(Object(error), 'code');
    if (typeof code === 'string') span.setAttribute('db.response.status_code', code);
    span.end();
  };
}
