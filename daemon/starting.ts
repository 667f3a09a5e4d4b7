/** Answers from the start of a daemon: until its database is open it is alive but not ready, and says why. */
import type { DaemonRole } from '../src/api/daemon-roles.ts'
import { systemClock } from '../src/context.ts'
import { health } from '../src/operations/service/health.ts'
import { internal } from '../src/platform/errors.ts'
import { silentLog } from '../src/platform/log.ts'
import type { Config } from '../src/settings/config.ts'
import type { App } from './app.ts'
import { envelope, errorResponse, jsonResponse } from './pipeline/answer.ts'
import { type Recording, type RequestRecord, recordRequest, unparsedRecord } from './pipeline/request-record.ts'
import type { Readiness } from './readiness.ts'

export type Answering = Pick<App, 'fetch' | 'refuse'>

interface Starting extends Answering {
  /** Changes the reason that /ready gives. */
  say(reason: string): void
  /** Passes every request on from now on. */
  open(app: Answering): void
}

export function answerWhileStarting(config: Config, role: DaemonRole, recording: Recording): Starting {
  let app: Answering | undefined
  let reason = 'the daemon is starting'
  // Early requests are answered, but their errors are not logged individually.
  const kernel = { config, log: silentLog }

  function refuse(thrown: unknown, record: RequestRecord, url: string): Response {
    const { requestId, fault } = record
    if (fault === undefined) record.reason = 'starting'
    const { status, body } = errorResponse(kernel, fault ?? thrown, requestId, new URL(url).origin)
    const wait: Record<string, string> = fault === undefined ? { 'Retry-After': '1' } : {}
    return jsonResponse(kernel, record, status, body, wait)
  }

  function answer({ method, url }: Request, record: RequestRecord): Response {
    const { pathname } = new URL(url)
    const isRead = record.fault === undefined && (method === 'GET' || method === 'HEAD')
    const meta = { request_id: record.requestId }
    if (isRead && pathname === '/v2/health') {
      record.route = pathname
      return jsonResponse(kernel, record, 200, envelope(health({ clock: systemClock }), meta))
    }
    if (isRead && pathname === '/ready') {
      record.route = pathname
      record.reason = 'starting'
      const data: Readiness = { ready: false, role, checks: { database: 'failing' }, reasons: { database: reason } }
      return jsonResponse(kernel, record, 503, envelope(data, meta), { 'Retry-After': '1' })
    }
    return refuse(internal(`${reason}: try again`), record, url)
  }

  return {
    say(text) {
      reason = text
    },
    open(opened) {
      app = opened
    },
    fetch: (request, incoming) =>
      app?.fetch(request, incoming) ?? recordRequest(recording, request, incoming, (record) => answer(request, record)),
    refuse: (error) => app?.refuse(error) ?? refuse(error, unparsedRecord(), 'http://localhost'),
  }
}
