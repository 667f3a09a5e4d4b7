/** What a page of the console gets of its request: the session, a client with its rights, and its address. */
import type { Hono } from 'hono'
import type { Client, Transport } from '../../src/client.ts'
import type { FoundSession } from '../../src/operations/console-sessions.ts'
import type { Config } from '../../src/settings/config.ts'
import type { RequestEnv, RequestRecord } from '../pipeline/request-record.ts'
import type { CommandIndex } from './same.ts'

export interface View {
  /** Asks the routes of the API with the rights of the session. */
  client: Client
  /** The text of another path of the service, `/ready` or `/metrics`, whatever its status. */
  read(path: string): Promise<string>
  config: Config
  session: FoundSession
  /** Whether the session may act. */
  isOperator: boolean
  /** Protects the forms of this session. */
  csrf: string
  /** Path of the page, below the root of the service. */
  path: string
  /** Parameters in the page's path. */
  params: Record<string, string>
  query: URLSearchParams
  /** Where programs reach this service. */
  api: string
  commands: CommandIndex
  /** Time of the request in Unix milliseconds. */
  now: number
}

/** Only the path of a request to the app itself counts. */
const SELF = 'http://console'

/**
 * Sends requests to the app in this process. They carry the session's key in their record, where no header reaches;
 * limits and scopes of the key count as usual.
 */
export function transportOf(hono: Hono<RequestEnv>, record: RequestRecord, { key }: FoundSession): Transport {
  return async ({ method, path, headers, body }) => {
    const init = { method, headers, ...(body === undefined ? {} : { body: body as string }) }
    const inner = { ...record, caller: key, incoming: undefined, bytes: null }
    const answer = await hono.fetch(new Request(`${SELF}${path}`, init), inner)
    // The client would wait with a later page, and the browser with it.
    answer.headers.delete('retry-after')
    return { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.text() }
  }
}

type Query = Record<string, string | undefined>

/**
 * A link within the console. It is relative to the page's `<base>`, so that it is right below any path of a proxy.
 *
 * @example
 * linkTo('/console/webhooks', { active: 'true' }) // console/webhooks?active=true
 */
export function linkTo(path: string, query: Query = {}): string {
  const set = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return set.length === 0 ? path.slice(1) : `${path.slice(1)}?${new URLSearchParams(set)}`
}

/** The way from a page to the root of the service. */
export const rootFrom = (path: string): string => '../'.repeat(path.split('/').length - 2) || './'

/** The query of the page, with changes; undefined leaves a parameter out. */
export const changedQuery = ({ query }: Pick<View, 'query'>, changes: Query): Query => ({
  ...Object.fromEntries(query),
  ...changes,
})
