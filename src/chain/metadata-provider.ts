/** Token metadata from a provider of the Digital Asset Standard: `getAsset` over JSON-RPC. */
import { redactUrl } from '../config.ts'
import { internal } from '../errors.ts'
import { urlRedactor } from '../redaction.ts'
import { withoutUser } from './program-cache/rpc.ts'

const LIMIT_MS = 10_000

/** How providers word that they have no such asset; they share no code for it. */
const UNKNOWN = /not\s?found|does not exist/i
/** Strings too, so that digits within one are passed over. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/**
 * The asset as the provider gives it, whole numbers beyond 2^53 as digit strings; null where it does not know the
 * mint. Throws internal_error that names the provider's host alone, as URLs of providers hold keys.
 */
export async function readAsset(url: string, mint: string, limitMs = LIMIT_MS): Promise<unknown | null> {
  const { status, text } = await ask(url, mint, limitMs)
  const answer = parsed(text)
  if (answer?.error !== undefined && answer.error !== null) {
    const { code, message } = answer.error as { code?: unknown; message?: unknown }
    if (UNKNOWN.test(String(message))) return null
    throw fault(url, `refuses${typeof code === 'number' ? ` (code ${code})` : ''}`)
  }
  if (status < 200 || status > 299) throw fault(url, `answers HTTP ${status}`)
  if (answer === null || !Object.hasOwn(answer, 'result')) throw fault(url, 'answers something that is not JSON-RPC')
  return answer.result ?? null
}

async function ask(url: string, mint: string, limitMs: number): Promise<{ status: number; text: string }> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 'svc', method: 'getAsset', params: { id: mint } })
  try {
    const { href, authorization } = withoutUser(url)
    const headers = { 'content-type': 'application/json', ...authorization }
    const response = await fetch(href, { method: 'POST', headers, body, signal: AbortSignal.timeout(limitMs) })
    return { status: response.status, text: urlRedactor(url).json(await response.text()) }
  } catch (error) {
    const { name, cause } = error as Error & { cause?: NodeJS.ErrnoException }
    const why = name === 'TimeoutError' ? 'no answer in time' : (cause?.code ?? 'the connection broke')
    throw fault(url, `cannot be reached (${why})`)
  }
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    const exact = text.replace(STRING_OR_NUMBER, (found) =>
      /^-?\d+$/.test(found) && !Number.isSafeInteger(Number(found)) ? `"${found}"` : found,
    )
    const value: unknown = JSON.parse(exact)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

const fault = (url: string, what: string) => internal(`The metadata provider ${redactUrl(url)} ${what}`)
