/** Reads token metadata from a provider of the Digital Asset Standard, by `getAsset` over JSON-RPC. */
import { internal } from '../../platform/errors.ts'
import { endpointOf, observeCall } from '../../platform/telemetry/calls.ts'
import { rpcOutcome } from '../../platform/telemetry/json-rpc.ts'
import { whyUnanswered, withTimeout } from '../../platform/timing.ts'
import { redactUrl } from '../../settings/config.ts'
import { urlRedactor } from '../../settings/redaction.ts'
import { withoutUser } from '../program-cache/rpc.ts'

const LIMIT_MS = 9_000

/** Wording by which providers report an unknown asset, for which they share no code. */
const UNKNOWN_ASSET_MESSAGE = /not\s?found|does not exist/i
/** Matches strings too, so that digits within them are skipped. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/**
 * Returns the provider's asset with whole numbers beyond 2^53 as digit strings, or null for an unknown mint. Throws
 * internal_error that names only the provider's host, because provider URLs hold keys.
 */
export async function readProviderAsset(
  url: string,
  mint: string,
  { limitMs = LIMIT_MS, ending }: { limitMs?: number; ending?: AbortSignal } = {},
): Promise<unknown | null> {
  const { status, text } = await askMetadataProvider(url, mint, limitMs, ending)
  const answer = parsedAnswer(text)
  if (answer?.error !== undefined && answer.error !== null) {
    const { code, message } = answer.error as { code?: unknown; message?: unknown }
    if (UNKNOWN_ASSET_MESSAGE.test(String(message))) return null
    throw providerFault(url, `refuses${typeof code === 'number' ? ` (code ${code})` : ''}`)
  }
  if (status < 200 || status > 299) throw providerFault(url, `answers HTTP ${status}`)
  if (answer === null || !Object.hasOwn(answer, 'result'))
    throw providerFault(url, 'answers something that is not JSON-RPC')
  return answer.result ?? null
}

async function askMetadataProvider(
  url: string,
  mint: string,
  limitMs: number,
  ending: AbortSignal | undefined,
): Promise<{ status: number; text: string }> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 'svc', method: 'getAsset', params: { id: mint } })
  try {
    const { href, authorization } = withoutUser(url)
    const headers = { 'content-type': 'application/json', ...authorization }
    const post = (trace: Record<string, string>) =>
      withTimeout(limitMs, ending, async (signal) => {
        const response = await fetch(href, { method: 'POST', headers: { ...headers, ...trace }, body, signal })
        return { status: response.status, text: urlRedactor(url).json(await response.text()) }
      })
    const target = { service: 'metadata', endpoint: endpointOf(url), operation: 'getAsset' } as const
    return await observeCall(target, post, ({ status, text }) => rpcOutcome(status, text))
  } catch (error) {
    throw providerFault(url, `cannot be reached (${whyUnanswered(error)})`)
  }
}

function parsedAnswer(text: string): Record<string, unknown> | null {
  try {
    const exact = text.replace(STRING_OR_NUMBER, (match) =>
      /^-?\d+$/.test(match) && !Number.isSafeInteger(Number(match)) ? `"${match}"` : match,
    )
    const value: unknown = JSON.parse(exact)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

const providerFault = (url: string, what: string) => internal(`The metadata provider ${redactUrl(url)} ${what}`)
