/** A browser without scripts, for the pages of the console: it keeps the cookie, and sends forms as their page has them. */
import { expect } from 'vitest'
import type { Service } from './service.ts'

/** Text of a stranger that a page must not run, and a spreadsheet must not compute. */
export const HOSTILE = '<script>alert(1)</script>"\'=1+1'

/** The host that the browser shows; on this machine cookies need no https. */
const HOST = 'http://127.0.0.1:8787'

export interface Shown {
  status: number
  headers: Headers
  html: string
  /** The text of the page's main part, without tags. */
  text: string
}

export interface ConsoleBrowser {
  cookie: string
  get(path: string, headers?: Record<string, string>): Promise<Shown>
  post(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<Shown>
  /** Sends the first form to `action` that the page at `path` has. */
  submit(path: string, action: string, more?: Record<string, string>): Promise<Shown>
}

export function consoleBrowser(service: Pick<Service, 'app'>, host = HOST): ConsoleBrowser {
  const send = async (path: string, init: RequestInit): Promise<Shown> => {
    const headers = { host: new URL(host).host, cookie: browser.cookie, ...(init.headers as Record<string, string>) }
    const answer = await service.app.fetch(new Request(host + path, { ...init, headers }))
    const [set] = answer.headers.getSetCookie()
    if (set !== undefined) browser.cookie = set.split(';')[0]!
    const html = await answer.text()
    return { status: answer.status, headers: answer.headers, html, text: textOf(html) }
  }
  const browser: ConsoleBrowser = {
    cookie: '',
    get: (path, headers = {}) => send(path, { headers }),
    post: (path, fields, headers = {}) =>
      send(path, {
        method: 'POST',
        body: new URLSearchParams(fields).toString(),
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          origin: host,
          'sec-fetch-site': 'same-origin',
          ...headers,
        },
      }),
    async submit(path, action, more = {}) {
      const { html } = await browser.get(path)
      return browser.post(`/${action}`, { ...fieldsOf(html, action), ...more })
    },
  }
  return browser
}

/** The path of a new link. */
export async function consoleLink(service: Service, role?: 'viewer' | 'operator', key?: string): Promise<string> {
  const body = role === undefined ? {} : { role }
  const { status, json, text } = await service.request('POST', '/v2/console/links', { body, ...(key && { key }) })
  expect(status, text).toBe(201)
  return json.data.path
}

/** A browser that is signed in by a link. */
export async function signedIn(service: Service, role?: 'viewer' | 'operator'): Promise<ConsoleBrowser> {
  const browser = consoleBrowser(service)
  const entered = await browser.submit(await consoleLink(service, role), 'console/enter')
  expect(entered.status, entered.html).toBe(303)
  return browser
}

/** The fields of the first form with this action, as a browser sends them. */
export function fieldsOf(html: string, action: string): Record<string, string> {
  const form = html.split('<form').find((part) => part.includes(`action="${action}"`)) ?? ''
  const inputs = form.split('</form>')[0]!.matchAll(/<input[^>]*name="([^"]*)"[^>]*value="([^"]*)"/g)
  return Object.fromEntries(Array.from(inputs, ([, name = '', value = '']) => [name, unescaped(value)]))
}

const ENTITIES: Record<string, string> = { quot: '"', amp: '&', lt: '<', gt: '>', '#39': "'" }
const unescaped = (text: string) => text.replaceAll(/&(quot|amp|lt|gt|#39);/g, (_, name: string) => ENTITIES[name]!)

function textOf(html: string): string {
  const main = /<main[^>]*>([\s\S]*)<\/main>/.exec(html)?.[1] ?? ''
  return unescaped(main.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')).trim()
}

/** Adds a receiver, and returns its id. */
export async function subscribe(service: Service, url = 'https://receiver.example/hooks'): Promise<string> {
  const { json, text } = await service.request('POST', '/v2/webhook-subscriptions', {
    body: { url, enabled_events: ['*'] },
  })
  expect(json.data?.id, text).toBeDefined()
  return json.data.id
}

/** A failed attempt to deliver an event, whose error a receiver wrote. */
export async function failedDelivery(service: Service, subscription: string, error: string, n = 1): Promise<string> {
  const { json } = await service.request('POST', `/v2/webhook-subscriptions/${subscription}/test`, { body: {} })
  await service.services.store.write((tx) =>
    tx
      .insertInto('webhook_deliveries')
      .values({
        id: `whd_00000000000000000000000${n}`,
        subscription_id: subscription,
        event_id: json.data.id,
        attempt: 1,
        status: 'failed',
        response_code: 500,
        duration_ms: 12,
        error,
        next_attempt_at: null,
        created_at: service.clock.now(),
      } as never)
      .execute(),
  )
  return json.data.id
}

/** Switches every receiver off, as after the last attempt, so that it needs a person. */
export const switchOff = ({ services }: Service) =>
  services.store.write((tx) =>
    tx.updateTable('webhook_subscriptions').set({ active: 0, disabled_reason: '7 attempts failed' }).execute(),
  )
