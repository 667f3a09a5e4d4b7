/**
 * Looks up existing values: settings and profiles in files, everything else through the running daemon of this
 * machine.
 */
import { join } from 'node:path'
import { loadConfig, OPERATOR_KEY_FILE, SETTINGS } from '../../../src/settings/config.ts'
import type { Suggestion } from '../command-tree.ts'
import { readApiKeyFile, runningDaemon } from '../connection.ts'
import { openHttp } from '../http-transport.ts'
import { readProfile, readProfiles } from '../profiles.ts'
import { terminal } from '../terminal.ts'
import type { Candidate } from './candidates.ts'

/** The longest that a person waits for a list, in milliseconds. */
const PATIENCE_MS = 300
/** Size of a page of the API; in a shell, more is not useful. */
const PAGE = 100
/** Values without special characters of a shell. Others are left out, because strangers can choose names. */
const PLAIN_WORD = /^[\w.*:@/+][\w.*:@/+-]*$|^-?[\w-]{40,}$/

/** Options of the command line that decide where to look. */
interface LookupOptions {
  dataDir: string | undefined
  profile: string | undefined
}

type Rows = readonly Record<string, unknown>[]

/** Where a kind is listed, and the value and meaning of a row. */
interface Listing {
  path: string
  of(row: Record<string, unknown>): [value: unknown, meaning: unknown]
}
const LISTED: Partial<Record<Suggestion, Listing>> = {
  airdrop: {
    path: `/v2/merkle-trees?limit=${PAGE}`,
    of: ({ id, airdrop_count, leaf_count, mint }) => [
      id,
      `${leaf_count} wallet${leaf_count === 1 ? '' : 's'}, airdrop ${airdrop_count} of ${mint}`,
    ],
  },
  pool: {
    path: `/v2/pools?limit=${PAGE}`,
    of: ({ address, symbol, status, name }) => [address, `${symbol ?? '?'} ${status}${name ? `, ${name}` : ''}`],
  },
  token: { path: `/v2/tokens?limit=${PAGE}`, of: ({ mint, status }) => [mint, status] },
  'api-key': { path: `/v2/api-keys?limit=${PAGE}`, of: ({ id, name }) => [id, name] },
  webhook: { path: `/v2/webhook-subscriptions?limit=${PAGE}`, of: ({ id, url }) => [id, url] },
  preset: {
    path: `/v2/pool-presets?limit=${PAGE}`,
    of: ({ name, is_default }) => [name, is_default ? 'the default' : ''],
  },
  'fee-schedule': { path: `/v2/fee-schedules?limit=${PAGE}`, of: ({ id, cron }) => [id, cron] },
  'event-type': { path: '/v2/webhook-event-types', of: ({ type, detection }) => [type, detection] },
}

/** The mints that were launched with a pool; the migrated pool has the same one. */
const LAUNCHED: Listing = {
  path: `/v2/pools?limit=${PAGE}`,
  of: ({ base_mint, symbol, name }) => [base_mint, `${symbol ?? '?'}${name ? `, ${name}` : ''}`],
}

/** The values of a kind; none if they are not available at once. */
export async function liveValues(suggestion: Suggestion, options: LookupOptions): Promise<Candidate[]> {
  try {
    if (suggestion === 'setting') return Object.entries(SETTINGS).map(([name, { about }]) => ({ value: name, about }))
    if (suggestion === 'wallet' || suggestion === 'signing-key') {
      const { walletNames } = await import('../../machine/wallets/folder.ts')
      return plain(walletNames().map((value) => ({ value, about: 'wallet' })))
    }
    if (suggestion === 'profile') {
      const { current, profiles } = await readProfiles()
      const names = [...new Set(['default', ...Object.keys(profiles)])]
      return plain(names.map((name) => candidateOf([name, name === current ? 'in use' : ''])))
    }
    const listed = [LISTED[suggestion], ...(suggestion === 'token' ? [LAUNCHED] : [])].filter(
      (each) => each !== undefined,
    )
    const found = await Promise.all(
      listed.map(async ({ path, of }) => (await askDaemon(path, options)).map((row) => candidateOf(of(row)))),
    )
    const unique = new Map(found.flat().map((candidate) => [candidate.value, candidate]))
    return plain([...unique.values()].slice(0, PAGE))
  } catch {
    // Nothing may be printed into the line that the user is typing.
    return []
  }
}

const plain = (candidates: Candidate[]) => candidates.filter(({ value }) => PLAIN_WORD.test(value))

const candidateOf = ([value, about]: readonly [unknown, unknown]): Candidate => ({
  value: String(value),
  about: String(about ?? ''),
})

/**
 * Asks the daemon of the data folder, never another API. It gets the operator's key only after its health check
 * succeeds.
 */
async function askDaemon(path: string, { dataDir, profile }: LookupOptions): Promise<Rows> {
  const { env, cwd } = terminal()
  const { settings } = await readProfile(profile ?? (env.SVC_PROFILE || undefined))
  const flags = dataDir === undefined ? {} : { 'data-dir': dataDir }
  const config = loadConfig({ flags, env, cwd: cwd(), profile: settings, trustProject: false })
  const daemon = config.values.api === undefined ? runningDaemon(config) : undefined
  if (daemon === undefined || daemon.role === 'worker') return []
  const http = await openHttp(daemon.url, undefined, PATIENCE_MS)
  try {
    return await Promise.race([fetchRows(http, path, join(config.dataDir, OPERATOR_KEY_FILE)), tooLate()])
  } finally {
    http.close()
  }
}

async function fetchRows(http: Awaited<ReturnType<typeof openHttp>>, path: string, keyFile: string): Promise<Rows> {
  const health = await http.send({ method: 'GET', path: '/v2/health', headers: {} })
  if (health.status !== 200 || !health.body.includes('"healthy"')) return []
  const { status, body } = await http.withKey(readApiKeyFile(keyFile)).send({ method: 'GET', path, headers: {} })
  const { data } = JSON.parse(body) as { data?: unknown }
  return status === 200 && Array.isArray(data) ? data : []
}

const tooLate = () =>
  new Promise<Rows>((resolve) => {
    setTimeout(resolve, PATIENCE_MS, []).unref()
  })
