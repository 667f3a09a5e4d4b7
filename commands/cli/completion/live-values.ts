/** Looks up values that exist now: settings and profiles in files, everything else through the daemon that runs here. */
import { join } from 'node:path'
import { loadConfig, OPERATOR_KEY_FILE, SETTINGS } from '../../../src/settings/config.ts'
import type { Suggestion } from '../command-tree.ts'
import { readApiKeyFile, runningDaemon } from '../connection.ts'
import { openHttp } from '../http-transport.ts'
import { readProfile, readProfiles } from '../profiles.ts'
import { terminal } from '../terminal.ts'
import type { Candidate } from './candidates.ts'

/** Milliseconds that a person waits for a list at most. */
const PATIENCE_MS = 300
/** A page of the API, which is as much as anybody reads in a shell. */
const PAGE = 100
/** Values that no shell reads anything into; a stranger can choose names, so all others are left out. */
const PLAIN_WORD = /^[\w.*:@/+][\w.*:@/+-]*$|^-?[\w-]{40,}$/

/** What the command line says of where to look. */
export interface LookupOptions {
  dataDir: string | undefined
  profile: string | undefined
}

type Rows = readonly Record<string, unknown>[]

/** Where each kind is listed, and what a row gives. */
const LISTED: Partial<Record<Suggestion, { path: string; of(row: Record<string, unknown>): [unknown, unknown] }>> = {
  airdrop: {
    path: `/v2/merkle-trees?limit=${PAGE}`,
    of: ({ id, airdrop_count, leaf_count, mint }) => [id, `${leaf_count} wallets, airdrop ${airdrop_count} of ${mint}`],
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

/** The values of a kind; none where they cannot be had at once. */
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
    const listed = LISTED[suggestion]
    if (listed === undefined) return []
    const rows = await askDaemon(listed.path, options)
    return plain(rows.slice(0, PAGE).map((row) => candidateOf(listed.of(row))))
  } catch {
    // Nothing may be printed into the line that somebody is typing.
    return []
  }
}

const plain = (candidates: Candidate[]) => candidates.filter(({ value }) => PLAIN_WORD.test(value))

const candidateOf = ([value, about]: readonly [unknown, unknown]): Candidate => ({
  value: String(value),
  about: String(about ?? ''),
})

/** Asks the daemon of the data folder with the operator's key, after it has shown itself to be one; never another API. */
async function askDaemon(path: string, { dataDir, profile }: LookupOptions): Promise<Rows> {
  const { env, cwd } = terminal()
  const { settings } = await readProfile(profile ?? (env.SVC_PROFILE || undefined))
  const flags = dataDir === undefined ? {} : { 'data-dir': dataDir }
  const config = loadConfig({ flags, env, cwd: cwd(), profile: settings, trustProject: false })
  const daemon = config.values.api === undefined ? runningDaemon(config) : undefined
  if (daemon === undefined || daemon.role === 'worker') return []
  const http = await openHttp(daemon.url, undefined, PATIENCE_MS)
  try {
    return await Promise.race([answerOf(http, path, join(config.dataDir, OPERATOR_KEY_FILE)), tooLate()])
  } finally {
    http.close()
  }
}

async function answerOf(http: Awaited<ReturnType<typeof openHttp>>, path: string, keyFile: string): Promise<Rows> {
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
