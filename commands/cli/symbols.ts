/** Takes the symbol of a token that was launched here in place of the address of its pool or mint. */
import type { Pool } from '../../src/api/pools.ts'
import type { Client } from '../../src/client.ts'
import { usage } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'
import type { CommandInput, Verb } from './command.ts'
import { declaredInputs, shownName } from './input-values.ts'
import { pagesOf } from './pages.ts'
import type { Session } from './session.ts'

/** Addresses are longer. */
const SYMBOL = /^[A-Za-z0-9]{1,10}$/
/** SOL is not a token that was launched here, whatever the symbol of one is. */
const NATIVE = 'SOL'
const PAGE = 100
const MOST_PAGES = 10
const SHOWN = 10

interface Typed {
  symbol: string
  kind: NonNullable<CommandInput['symbolOf']>
  /** The input as it is typed, such as `<address>`. */
  param: string
}

/**
 * The inputs with addresses in place of symbols. Throws a usage problem if no token here has the symbol or several have
 * it, and for a command that signs unless a person confirms it, because anybody with an API key can launch a symbol.
 */
export async function withAddresses(
  verb: Verb,
  inputs: Record<string, unknown>,
  session: Pick<Session, 'client' | 'ui'>,
): Promise<Record<string, unknown>> {
  const resolved = { ...inputs }
  for (const [key, { symbolOf: kind }] of declaredInputs(verb)) {
    const symbol = inputs[key]
    if (kind === undefined || typeof symbol !== 'string' || !SYMBOL.test(symbol) || symbol === NATIVE) continue
    const typed = { symbol, kind, param: shownName(verb, key) }
    const pool = onlyOne(typed, await poolsWith(session.client, typed))
    const address = pool[ADDRESS_OF[kind]]
    const signs = 'keypair' in verb.flags && inputs.dry_run !== true
    if (signs && !session.ui.attended) throw unconfirmed(typed, address)
    const text = printable(`${symbol} is ${address}${pool.creator === null ? '' : `, launched by ${pool.creator}`}`)
    // A person who confirms sees it even with --quiet.
    if (signs) await session.ui.preview([text])
    else session.ui.note(text)
    resolved[key] = address
  }
  return resolved
}

const ADDRESS_OF = { pool: 'address', mint: 'base_mint' } as const

function onlyOne({ symbol, kind, param }: Typed, pools: readonly Pool[]): Pool {
  const found = [...new Map(pools.map((pool) => [pool[ADDRESS_OF[kind]], pool])).values()]
  const [pool] = found
  if (pool === undefined) {
    throw usage(`${param} must be an address, and no pool here has the symbol ${symbol}`, {
      param,
      next: '`svc pools list` shows the pools',
    })
  }
  if (found.length === 1) return pool
  const several = `${found.length} ${kind}s here have the symbol ${symbol}: give the address of one as ${param}`
  const lines = found.slice(0, SHOWN).map((one) => `  ${one[ADDRESS_OF[kind]]}  ${aboutOf(one)}`)
  const hidden = found.length > SHOWN ? [`  … and ${found.length - SHOWN} more`] : []
  throw usage(several, {
    param,
    lines: [`error: ${several}`, ...lines, ...hidden],
    details: { addresses: found.slice(0, SHOWN).map((one) => one[ADDRESS_OF[kind]]) },
  })
}

const unconfirmed = ({ symbol, param }: Typed, address: string) =>
  usage(`${param} must be an address where nobody confirms: anybody with an API key can launch a ${symbol}`, {
    param,
    next: `give ${address}, if that is the one that you mean`,
  })

const aboutOf = ({ type, status, creator }: Pool) => `${type}, ${status}${creator ? `, by ${creator}` : ''}`

/** The pools here with the symbol that are on chain, otherwise those that are not on chain yet. */
async function poolsWith(client: Client, { symbol, param }: Typed): Promise<Pool[]> {
  const found: Pool[] = []
  let read = 0
  for await (const { data, meta } of pagesOf((paging) => client.pools.list({ ...paging, symbol }))) {
    found.push(...data.filter((pool) => pool.symbol?.toUpperCase() === symbol.toUpperCase()))
    if (meta.next_cursor !== null && ++read === MOST_PAGES) break
    if (meta.next_cursor !== null) continue
    const launched = found.filter(({ status }) => status !== 'failed')
    const onChain = launched.filter(({ status }) => status !== 'pending')
    return onChain.length > 0 ? onChain : launched
  }
  throw usage(`there are more than ${PAGE * MOST_PAGES} pools with the symbol ${symbol}`, {
    param,
    next: 'give the address',
  })
}
