/** Reads passport.json, which anybody may have written: every field is checked, and texts are shown as one clean line. */
import { foreignWords } from '../claim-page/browser/page-fault.ts'
import { keyOfAddress } from '../claim-page/browser/program-addresses.ts'
import { safeUrl } from '../claim-page/browser/site-files.ts'
import type { Verdict } from '../solana/token-verdicts.ts'

export const PASSPORT_FORMAT = 'svc-token-passport/1'
const MOST_CHARACTERS = 262_144
const MOST_LOCKS = 20
const MOST_POOLS = 10
const MOST_BURNT = 20
const MOST_NODES = 8
const MOST_VERDICTS = 32
const LEVELS: readonly unknown[] = ['ok', 'warning', 'danger', 'unknown'] satisfies Verdict['level'][]
const PUBLIC_NODES: Readonly<Record<string, string>> = {
  mainnet: 'https://api.mainnet-beta.solana.com',
  devnet: 'https://api.devnet.solana.com',
  testnet: 'https://api.testnet.solana.com',
}
const LOCAL_NODE = 'http://127.0.0.1:8899'

/** A position whose NFT is in a burn address. */
export interface BurntPosition {
  address: string
  nftMint: string
  nftAccount: string
}

/** What was read when the passport was written. Amounts are raw units. */
export interface Passport {
  genesisHash: string
  nodes: string[]
  writtenAt: string
  mint: string
  name: string
  symbol: string
  decimals: number
  supply: bigint
  /** Holder of each authority by its type; null if it was given up. */
  authorities: ReadonlyMap<string, string | null>
  isMutable: boolean
  locks: { address: string; recipient: string; amount: bigint }[]
  pools: { address: string; type: 'dbc' | 'damm_v2'; lockedBps: number; burnt: BurntPosition[] }[]
  holders: { count: number; slot: number } | null
  /** The report's word on each risk. */
  verdicts: ReadonlyMap<string, Pick<Verdict, 'level' | 'finding'>>
  /** Parts that could not be read when the passport was written. */
  missing: ('Locks' | 'Liquidity')[]
}

/** Throws an Error that says what is wrong with the file. */
export function readPassport(text: string): Passport {
  if (text.length > MOST_CHARACTERS) throw new Error('passport.json is too long')
  const file = fieldsOf(JSON.parse(text))
  if (file.format !== PASSPORT_FORMAT) throw new Error('passport.json has another format')
  const cluster = fieldsOf(file.cluster)
  const report = fieldsOf(file.report)
  const metadata = fieldsOf(report.metadata)
  const nodes = listOf(file.rpc, MOST_NODES).flatMap((url) => safeUrl(url) ?? [])
  const mint = addressIn(report.mint, 'mint')
  return {
    genesisHash: String(cluster.genesis_hash),
    nodes: nodes.length > 0 ? nodes : [PUBLIC_NODES[String(cluster.name)] ?? LOCAL_NODE],
    writtenAt: foreignWords(file.written_at, 30),
    mint,
    name: foreignWords(metadata.name ?? '', 32),
    symbol: foreignWords(metadata.symbol ?? '', 10),
    decimals: wholeIn(report.decimals, 255, 'decimals'),
    supply: unitsIn(report.supply, 'supply'),
    authorities: new Map(
      listOf(report.authorities, 64).map((each) => {
        const { type, holder } = fieldsOf(each)
        return [foreignWords(type, 32), holder === null ? null : addressIn(holder, 'authorities')]
      }),
    ),
    isMutable: metadata.is_mutable === true,
    locks: listOf(fieldsOf(report.locks).largest, MOST_LOCKS).map((each) => {
      const { address, recipient, amount } = fieldsOf(each)
      return {
        address: addressIn(address, 'locks'),
        recipient: addressIn(recipient, 'locks'),
        amount: unitsIn(amount, 'locks'),
      }
    }),
    pools: listOf(fieldsOf(report.pools).pools, MOST_POOLS).map((each) => {
      const { address, type, locked_bps, burned_positions } = fieldsOf(each)
      if (type !== 'dbc' && type !== 'damm_v2') throw new Error('pools in passport.json have another form')
      const burnt = listOf(burned_positions, MOST_BURNT).map((position) => {
        const fields = fieldsOf(position)
        const [own, nftMint, nftAccount] = [fields.address, fields.nft_mint, fields.nft_account].map((key) =>
          addressIn(key, 'burned_positions'),
        ) as [string, string, string]
        return { address: own, nftMint, nftAccount }
      })
      return { address: addressIn(address, 'pools'), type, lockedBps: wholeIn(locked_bps, 10_000, 'pools'), burnt }
    }),
    holders: holdersIn(report.holders),
    verdicts: new Map(listOf(report.risks, MOST_VERDICTS).map(verdictIn)),
    missing: [
      ...(report.locks === null ? (['Locks'] as const) : []),
      ...(report.pools === null ? (['Liquidity'] as const) : []),
    ],
  }
}

function verdictIn(value: unknown): [string, Pick<Verdict, 'level' | 'finding'>] {
  const { risk, level, finding } = fieldsOf(value)
  if (!LEVELS.includes(level)) throw new Error('risks in passport.json have another form')
  return [foreignWords(risk, 32), { level: level as Verdict['level'], finding: foreignWords(finding, 600) }]
}

function holdersIn(value: unknown): Passport['holders'] {
  if (value === null || value === undefined) return null
  const { holders, slot } = fieldsOf(value)
  return {
    count: wholeIn(holders, Number.MAX_SAFE_INTEGER, 'holders'),
    slot: wholeIn(slot, Number.MAX_SAFE_INTEGER, 'holders'),
  }
}

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}

const listOf = (value: unknown, most: number): unknown[] => (Array.isArray(value) ? value.slice(0, most) : [])

function addressIn(value: unknown, field: string): string {
  if (typeof value !== 'string' || keyOfAddress(value) === null)
    throw new Error(`${field} in passport.json has no address`)
  return value
}

function unitsIn(value: unknown, field: string): bigint {
  if (typeof value !== 'string' || !/^[0-9]{1,20}$/.test(value))
    throw new Error(`${field} in passport.json is not an amount`)
  return BigInt(value)
}

function wholeIn(value: unknown, most: number, field: string): number {
  const isWhole = Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= most
  if (!isWhole) throw new Error(`${field} in passport.json is not a whole number`)
  return value as number
}
