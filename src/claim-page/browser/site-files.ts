/** Reads the files of the site: its airdrops and its operator's settings. Nothing in them is trusted. */
import { isThisMachine } from '../../platform/urls.ts'
import { foreignWords, PageFault } from './page-fault.ts'
import { keyOfAddress } from './program-addresses.ts'

/** One tree of the page; its root and amounts are checked against the chain. */
export interface PageAirdrop {
  id: string
  mint: string
  distributor: string
  decimals: number
  symbol: string
  name: string
  /** Merkle root and SHA-256 of the list, in hex. */
  root: string
  listHash: string
  leafCount: number
  /** Sum of both parts of all leaves, in raw units. */
  total: bigint
  rowBytes: 40 | 48
  /** Number of the first row among the rows of all trees. */
  firstRow: number
}

/** The cluster of a page. */
export interface PageSubject {
  genesisHash: string
  clusterName: string
  /** The cluster's name in the Wallet Standard, such as `solana:mainnet`. */
  chain: `solana:${string}`
}

export interface ClaimSubject extends PageSubject {
  airdrops: readonly PageAirdrop[]
  index: { bits: number; root: string; count: number }
}

export interface Explorer {
  name: string
  /** URL with `{signature}` in it. */
  transaction: string
}

interface Palette {
  accent?: string
  background?: string
  surface?: string
  text?: string
}

export interface SiteSettings {
  name: string
  logo: string | null
  light: Palette
  dark: Palette
  language: string | null
  languages: readonly string[] | null
  texts: Readonly<Record<string, Readonly<Record<string, string>>>>
  rpc: readonly string[]
  explorers: readonly Explorer[]
  sponsor: string | null
  links: readonly { text: string; url: string }[]
}

const MOST_JSON_BYTES = 262_144
const READ_MS = 20_000

type Fields = Record<string, unknown>
export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
const listOf = (value: unknown, most: number): unknown[] => (Array.isArray(value) ? value.slice(0, most) : [])
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const countOf = (value: unknown, most: number): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= most ? value : null

/** Reads a file of the site. Throws PageFault if it is missing, larger than `most`, or does not arrive now. */
export async function readSiteFile(path: string, most: number): Promise<Uint8Array> {
  let answer: Response
  try {
    answer = await fetch(path, { signal: AbortSignal.timeout(READ_MS), credentials: 'same-origin' })
  } catch {
    throw new PageFault('fileUnreachable', { file: path })
  }
  const isLater = answer.status === 429 || answer.status >= 500
  if (!answer.ok) throw new PageFault(isLater ? 'fileUnreachable' : 'fileMissing', { file: path })
  const reader = answer.body?.getReader()
  const parts: Uint8Array[] = []
  let length = 0
  try {
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
      length += read.value.length
      if (length > most) throw new PageFault('fileDamaged', { file: path })
      parts.push(read.value)
    }
  } catch (error) {
    void reader?.cancel().catch(() => {})
    throw error instanceof PageFault ? error : new PageFault('fileUnreachable', { file: path })
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

export async function readJson(path: string): Promise<unknown> {
  const bytes = await readSiteFile(path, MOST_JSON_BYTES)
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    throw new PageFault('fileDamaged', { file: path })
  }
}

const isHash = (text: string) => /^[0-9a-f]{64}$/.test(text)
const amountOf = (value: unknown): bigint | null => (/^\d{1,20}$/.test(textOf(value)) ? BigInt(textOf(value)) : null)

/** Throws PageFault if the file does not describe airdrops as the page needs them. */
export async function readSubject(): Promise<ClaimSubject> {
  const path = 'airdrops.json'
  return subjectOf(await readJson(path), path)
}

/** Most trees of one page; a launch to ten million wallets has 200 trees of 50,000. */
const MOST_TREES = 1_000
const MOST_ROWS = 2 ** 32 - 1

export function subjectOf(json: unknown, path: string): ClaimSubject {
  const damaged = () => new PageFault('fileDamaged', { file: path })
  const root = fieldsOf(json)
  if (root.format !== 'svc-claim-page/1') throw damaged()
  const cluster = clusterOf(root.cluster)
  if (cluster === null) throw damaged()
  let firstRow = 0
  const airdrops = listOf(root.airdrops, MOST_TREES).map((each): PageAirdrop => {
    const fields = fieldsOf(each)
    const [decimals, leafCount] = [countOf(fields.decimals, 255), countOf(fields.leaf_count, MOST_ROWS)]
    const total = amountOf(fields.total)
    const { row_bytes: rowBytes, block_rows: blockRows } = fields
    const airdrop = {
      id: textOf(fields.id),
      mint: textOf(fields.mint),
      distributor: textOf(fields.distributor),
      symbol: foreignWords(fields.symbol, 32),
      name: foreignWords(fields.name, 64),
      root: textOf(fields.root),
      listHash: textOf(fields.list_sha256),
      firstRow,
    }
    const { id, mint, distributor } = airdrop
    if (!/^[\w-]{1,120}$/.test(id) || keyOfAddress(mint) === null || keyOfAddress(distributor) === null) throw damaged()
    if (decimals === null || !leafCount || total === null || !isHash(airdrop.root)) throw damaged()
    if (!isHash(airdrop.listHash) || (rowBytes !== 40 && rowBytes !== 48) || blockRows !== 64) throw damaged()
    firstRow += leafCount
    return { ...airdrop, decimals, leafCount, total, rowBytes }
  })
  const index = fieldsOf(root.index)
  const [bits, count] = [countOf(index.bits, 24), countOf(index.count, MOST_ROWS)]
  if (airdrops.length === 0 || bits === null || count !== firstRow || !isHash(textOf(index.root))) throw damaged()
  return { ...cluster, airdrops, index: { bits, root: textOf(index.root), count } }
}

/** The cluster that a file of the site names; null without a genesis hash. */
export function clusterOf(value: unknown): PageSubject | null {
  const cluster = fieldsOf(value)
  const genesisHash = textOf(cluster.genesis_hash)
  if (keyOfAddress(genesisHash) === null) return null
  const clusterName = /^[a-z]{1,20}$/.test(textOf(cluster.name)) ? textOf(cluster.name) : ''
  const chain = /^solana:[a-z]{1,20}$/.test(textOf(cluster.chain)) ? textOf(cluster.chain).slice(7) : 'mainnet'
  return { genesisHash, clusterName, chain: `solana:${chain}` }
}

/** A URL that a link or a request may have: https, or http on this machine. */
export function safeUrl(value: unknown): string | null {
  try {
    const url = new URL(textOf(value))
    const isAllowed = url.protocol === 'https:' || (url.protocol === 'http:' && isThisMachine(url.hostname))
    return isAllowed && url.username === '' && url.password === '' ? textOf(value) : null
  } catch {
    return null
  }
}

/** Settings of the site's operator; a page without the file has none. */
export async function readSettings(): Promise<SiteSettings> {
  try {
    return settingsOf(await readJson('site.json'))
  } catch (error) {
    if (error instanceof PageFault && error.key === 'fileMissing') return settingsOf({})
    throw error
  }
}

export function settingsOf(json: unknown): SiteSettings {
  const site = fieldsOf(json)
  const colours = fieldsOf(site.colours)
  const palette = (value: unknown): Palette =>
    Object.fromEntries(
      Object.entries(fieldsOf(value)).filter(
        ([name, colour]) => /^(accent|background|surface|text)$/.test(name) && /^#[0-9a-f]{6}$/i.test(textOf(colour)),
      ),
    )
  const texts = Object.entries(fieldsOf(site.texts)).map(([language, given]) => [
    language,
    Object.fromEntries(Object.entries(fieldsOf(given)).filter(([, text]) => typeof text === 'string')),
  ])
  const isLanguage = (value: unknown) => /^[a-z]{2}$/.test(textOf(value))
  const languages = listOf(site.languages, 40).filter(isLanguage).map(textOf)
  return {
    name: foreignWords(site.name, 64),
    logo: /^[\w-][\w.-]*$/.test(textOf(site.logo)) ? textOf(site.logo) : null,
    light: palette(colours.light),
    dark: palette(colours.dark),
    language: isLanguage(site.language) ? textOf(site.language) : null,
    languages: languages.length > 0 ? languages : null,
    texts: Object.fromEntries(texts),
    rpc: listOf(site.rpc, 8).flatMap((url) => safeUrl(url) ?? []),
    explorers: listOf(site.explorers, 8).flatMap((each) => {
      const { name, transaction } = fieldsOf(each)
      const isUsable = safeUrl(transaction) !== null && textOf(transaction).includes('{signature}')
      return isUsable ? [{ name: foreignWords(name, 32), transaction: textOf(transaction) }] : []
    }),
    sponsor: site.sponsor === '' ? '' : safeUrl(site.sponsor),
    links: listOf(site.links, 12).flatMap((each) => {
      const { text, url } = fieldsOf(each)
      const safe = safeUrl(url)
      return safe === null ? [] : [{ text: foreignWords(text, 48) || safe, url: safe }]
    }),
  }
}
