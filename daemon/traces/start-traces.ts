/** Exports traces if OpenTelemetry's environment variables request it; otherwise the exporter is not loaded. */
import type { Registry } from 'prom-client'
import type { Log } from '../../src/platform/log.ts'
import type { Config } from '../../src/settings/config.ts'
import { redactorOf } from '../../src/settings/redaction.ts'
import type { Exporter } from './exporter.ts'
import type { TraceEnvironment } from './settings.ts'

/** Returns null if no endpoint is set. */
export async function startTraces(
  config: Config,
  { registry, log, env = process.env }: { registry: Registry; log: Log; env?: TraceEnvironment },
): Promise<Exporter | null> {
  if (!Object.keys(env).some((name) => /^OTEL_EXPORTER_OTLP_(?:TRACES_)?ENDPOINT$/.test(name))) return null
  const [{ traceSettings }, { startExporter }] = await Promise.all([import('./settings.ts'), import('./exporter.ts')])
  const { settings, warnings } = traceSettings(env)
  for (const fault of warnings) log.warn({ fault }, 'an OpenTelemetry variable is ignored')
  return settings === null ? null : startExporter(settings, { registry, log, redactor: redactorOf(config) })
}
