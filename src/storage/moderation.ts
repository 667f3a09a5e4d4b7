/** Asks the configured provider whether a token's image and texts may be published. */
import { ApiError, badRequest, internal } from '../platform/errors.ts'
import { ShuttingDown, TimeoutError, withTimeout } from '../platform/timing.ts'
import { type Config, environmentName, howToSet } from '../settings/config.ts'

interface Moderated {
  image: { bytes: Uint8Array; contentType: string }
  /** Name, symbol and description, which are moderated with the image. */
  texts?: readonly string[]
}

export type Verdict = { flagged: false } | { flagged: true; categories: string[] }

interface ModerationOptions {
  fetch?: typeof fetch
  /** Timeout for request and response together, in milliseconds. */
  timeoutMs?: number
  /** Signal that is aborted when the process shuts down. */
  ending?: AbortSignal
}

const MODERATION_TIMEOUT_MS = 9_000
const LARGEST_ANSWER = 1_048_576
/** Origin of OpenAI, which requires a key. Other servers may not require one. */
const OPENAI = 'https://api.openai.com'

/**
 * Throws bad_request (`image`) with the categories when the provider rejects, and internal_error when it does not
 * respond.
 */
export async function requireAllowed(config: Config, what: Moderated, options: ModerationOptions = {}): Promise<void> {
  const verdict = await moderate(config, what, options)
  if (!verdict.flagged) return
  const { categories } = verdict
  throw badRequest(`The image or its texts were rejected by content moderation: ${categories.join(', ')}`, {
    param: 'image',
    details: { categories },
  })
}

/** Sends one request, or none if `moderation` is off. Throws internal_error if there is no valid response. */
export async function moderate(config: Config, what: Moderated, options: ModerationOptions = {}): Promise<Verdict> {
  if (config.values.moderation === 'off') return { flagged: false }
  const url = endpoint(config)
  const headers = { 'content-type': 'application/json', ...authorization(config, url) }
  const { timeoutMs = MODERATION_TIMEOUT_MS, ending } = options
  const body = JSON.stringify(question(config.values['moderation-model'], what))
  let answer: string
  try {
    answer = await withTimeout(timeoutMs, ending, async (signal) => {
      // A redirect could send the key to another host.
      const init: RequestInit = { method: 'POST', headers, body, signal, redirect: 'error' }
      const response = await (options.fetch ?? fetch)(url, init)
      if (response.ok) return bounded(response)
      await response.body?.cancel()
      throw imageRefused(url, response.status)
    })
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw moderationFailed(url, whyNot(error, timeoutMs), error)
  }
  return readVerdict(url, answer)
}

function whyNot(error: unknown, timeoutMs: number): string {
  if (error instanceof TimeoutError) return `did not answer within ${timeoutMs / 1000} s`
  if (error instanceof ShuttingDown) return 'had not answered yet: the service is shutting down'
  return 'cannot be reached, or its answer was interrupted'
}

/** Returns the endpoint below `moderation-url`. It must be https to protect the key, except on this machine. */
function endpoint({ values }: Config): URL {
  const url = new URL(values['moderation-url'])
  const wayIn = `; set ${environmentName('moderation-url')}`
  const isLocal = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname)
  if (url.protocol !== 'https:' && !isLocal) throw internal(`moderation-url must be an https URL${wayIn}`)
  if (url.username || url.password || url.search || url.hash) {
    throw internal(`moderation-url must be a plain URL, without user name, query or fragment${wayIn}`)
  }
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/moderations`
  return url
}

function authorization(config: Config, url: URL): Record<string, string> {
  const key = config.values['moderation-key']
  const wayIn = howToSet(config, 'moderation-key')
  if (key === undefined) {
    if (url.origin !== OPENAI) return {}
    throw internal(`moderation-key is not set and ${url.host} needs one: ${wayIn}, or set moderation to off`, {
      unset: 'moderation-key',
    })
  }
  if (!/^[\x21-\x7e]+$/.test(key)) throw internal(`moderation-key contains a character that no key has; ${wayIn}`)
  return { authorization: `Bearer ${key}` }
}

function question(model: string, { image, texts = [] }: Moderated): Record<string, unknown> {
  const data = Buffer.from(image.bytes).toString('base64')
  return {
    model,
    input: [
      ...texts.filter((text) => text.trim() !== '').map((text) => ({ type: 'text', text })),
      { type: 'image_url', image_url: { url: `data:${image.contentType};base64,${data}` } },
    ],
  }
}

/** The error for a missing verdict. Nothing may be created without one. */
const moderationFailed = (url: URL, why: string, cause?: unknown): ApiError =>
  internal(`The moderation provider at ${url.host} ${why}; nothing was created, try again`, { cause })

function imageRefused(url: URL, status: number): ApiError {
  if (status !== 401 && status !== 403) return moderationFailed(url, `answered with status ${status}`)
  return internal(
    `The moderation provider at ${url.host} did not accept the key (status ${status}): check ${environmentName('moderation-key')}; nothing was created`,
  )
}

async function bounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > LARGEST_ANSWER) throw new Error('more than a verdict')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Pattern of category names that are safe in a message to clients. */
const CATEGORY = /^[\w/ -]{1,64}$/

function readVerdict(url: URL, answer: string): Verdict {
  const unclear = () => moderationFailed(url, 'answered without a verdict')
  let results: unknown
  try {
    results = (JSON.parse(answer) as { results?: unknown } | null)?.results
  } catch {
    throw unclear()
  }
  if (!Array.isArray(results) || results.length === 0) throw unclear()
  const categories = new Set<string>()
  let flagged = false
  for (const result of results as ({ flagged?: unknown; categories?: unknown } | null)[]) {
    if (typeof result?.flagged !== 'boolean') throw unclear()
    if (!result.flagged) continue
    flagged = true
    for (const [name, applies] of Object.entries(result.categories ?? {})) {
      if (applies === true && CATEGORY.test(name)) categories.add(name)
    }
  }
  if (!flagged) return { flagged }
  return { flagged, categories: categories.size > 0 ? [...categories].sort() : ['unspecified'] }
}
