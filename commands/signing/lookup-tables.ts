/** Describes a transaction with the addresses that its lookup tables have now, which only the chain knows. */
import { ApiError } from '../../src/platform/errors.ts'
import type { ChainAccount } from '../../src/solana/accounts.ts'
import type { DescribedInstruction } from '../../src/solana/described-instructions.ts'
import { TransactionRefused } from '../../src/solana/execution.ts'
import { loadAddresses } from '../../src/solana/lookup-tables.ts'
import type { Session } from '../cli/session.ts'
import type { DescribedContent } from './wallet.ts'

/** What a transaction takes from a table. */
export interface TakenAddress {
  /** `TABLE[place]` */
  place: string
  /** Null if the table cannot be read. */
  address: string | null
}

const PLACE = /^([1-9A-HJ-NP-Za-km-z]{32,44})\[(\d+)\]$/

/** The content by addresses where the API can read the tables; elsewhere an account stays `TABLE[place]`. */
export async function describeWithTables(
  { client, wallet }: Pick<Session, 'client' | 'wallet'>,
  transaction: string,
): Promise<{ content: DescribedContent; taken: TakenAddress[] }> {
  const content = await wallet.describe(transaction)
  const named = [...new Set(placesIn(content.instructions))].flatMap((place) => {
    const [, table = '', index] = PLACE.exec(place) ?? []
    return table === '' ? [] : [{ place, table, index: Number(index) }]
  })
  const tables = new Map<string, ChainAccount | null>()
  for (const { table } of named) if (!tables.has(table)) tables.set(table, await accountOrNull(client, table))
  const taken = named.map(({ place, table, index }) => ({ place, address: addressAt(tables, table, index) }))
  const known = taken.flatMap(({ place, address }) => (address === null ? [] : [[place, address] as const]))
  return { taken, content: known.length === 0 ? content : await wallet.describe(transaction, new Map(known)) }
}

const placesIn = (instructions: readonly DescribedInstruction[]): string[] =>
  instructions.flatMap(({ program, accounts, inner = [] }) => [
    program,
    ...accounts.map(({ address }) => address),
    ...placesIn(inner),
  ])

export type ApiAccount = Awaited<ReturnType<Session['client']['accounts']['get']>>['data']

/** The account that the API answers with. Whether it is a program is not known. */
export const chainAccountOf = ({ owner, lamports, data }: ApiAccount): ChainAccount => ({
  owner,
  lamports: BigInt(lamports),
  data: Buffer.from(data, 'base64'),
  executable: false,
})

async function accountOrNull(client: Session['client'], address: string): Promise<ChainAccount | null> {
  try {
    return chainAccountOf((await client.accounts.get({ address })).data)
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}

function addressAt(tables: ReadonlyMap<string, ChainAccount | null>, table: string, index: number): string | null {
  const lookup = { table, writable: Uint8Array.of(index), readonly: new Uint8Array() }
  try {
    return (
      loadAddresses([lookup], Number.MAX_SAFE_INTEGER, (address) => tables.get(address) ?? null).writable[0] ?? null
    )
  } catch (error) {
    if (error instanceof TransactionRefused) return null
    throw error
  }
}

/** The lines of what was taken; none without tables. */
export const takenLines = (taken: readonly TakenAddress[]): string[] =>
  taken.length === 0
    ? []
    : [
        'from lookup tables, as the API reads them now',
        ...taken.flatMap(({ place, address }) => [
          `  ${place}`,
          `    ${address ?? 'not known: the table cannot be read'}`,
        ]),
      ]
