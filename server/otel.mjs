// Sends the spans of Baton to an OpenTelemetry collector: NODE_OPTIONS="--import @baton/server/otel". The operator
// installs the packages (docs/guides/monitoring.md); Baton does not depend on them.
import { subscribe } from 'node:diagnostics_channel'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'

const packages = ['sdk-trace-base', 'resources', 'exporter-trace-otlp-http'].map((name) => `@opentelemetry/${name}`)
const kinds = { server: 1, client: 2 }
const [unset, error] = [0, 2]

// The option reaches the threads of the process too. Spans are published in its main thread only.
if (isMainThread) start(...packages.map(load))

/** From where the process was started, or else from beside this file. */
function load(name) {
  for (const place of [join(process.cwd(), 'package.json'), import.meta.url]) {
    try {
      return createRequire(place)(name)
    } catch (failure) {
      if (failure.code !== 'MODULE_NOT_FOUND') throw failure
    }
  }
  throw new Error(
    `${name} is missing. Install ${packages.join(', ')} where Baton is started, or leave out the preload.`,
  )
}

function start(
  { BatchSpanProcessor },
  { detectResources, envDetector, resourceFromAttributes },
  { OTLPTraceExporter },
) {
  const processor = new BatchSpanProcessor(new OTLPTraceExporter())
  // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES come first.
  const resource = resourceFromAttributes({ 'service.name': 'baton' }).merge(
    detectResources({ detectors: [envDetector] }),
  )
  subscribe('baton:span', (span) => {
    if (span.sampled) processor.onEnd(readable(span, resource))
  })
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.on(signal, () => {
      processor.forceFlush().catch(() => {})
      // Before the service listens for it, a signal ends the process as without this module.
      if (process.listenerCount(signal) === 1) process.exit(1)
    })
  }
}

/** As the exporter expects a span that has ended. */
const readable = (span, resource) => ({
  name: span.name,
  kind: kinds[span.kind],
  spanContext: () => contextOf(span, span.spanId),
  parentSpanContext: span.parentSpanId === null ? undefined : contextOf(span, span.parentSpanId),
  startTime: highResolution(span.startedAtMs),
  endTime: highResolution(span.startedAtMs + span.durationMs),
  duration: highResolution(span.durationMs),
  status: { code: span.failed ? error : unset },
  attributes: span.attributes,
  links: [],
  events: [],
  ended: true,
  resource,
  instrumentationScope: { name: 'baton' },
  droppedAttributesCount: 0,
  droppedEventsCount: 0,
  droppedLinksCount: 0,
})

const contextOf = ({ traceId }, spanId) => ({ traceId, spanId, traceFlags: 1 })

/** Seconds and nanoseconds. */
const highResolution = (ms) => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)]
