/** Symbols of mints and links to the explorer, on a terminal: what they add, and when they add nothing. */
import { describe, expect, it } from 'vitest'
import type { CommandOutcome } from '../../commands/cli/command.ts'
import type { Session } from '../../commands/cli/session.ts'
import { addressNames } from '../../commands/signing/address-names.ts'
import type { DescribedContent } from '../../commands/signing/wallet.ts'
import { showsLinks, withExplorerLinks } from '../../commands/ui/explorer-links.ts'
import { withSymbols } from '../../commands/ui/mint-symbols.ts'
import { SYSTEM_PROGRAM, WRAPPED_SOL } from '../../src/solana/program-ids.ts'

const MINT = '9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY'
const POOL = 'CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4'
const OWN = '9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g'
const VAULT = '6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78'
const SIGNATURE = '2uRZX4aJqCEnA39EcYq1gXk6R35g9vNymNxWrv85mvy8YWKD6AMkzzBRjcMnFdqwS2KFpWrjmfNfWeHrTW42fiwY'

const labelOf = (mint: string) => ({
  mint,
  symbol: 'MTK',
  name: 'My Token',
  decimals: 6,
  token_program: 'spl' as const,
})

/** What was asked for, and the outcome that is shown. */
async function shown(outcome: CommandOutcome, symbol: string | null = 'MTK') {
  const asked: string[][] = []
  const result = await withSymbols(outcome, async (mints) => {
    asked.push(mints)
    return { data: { tokens: mints.map((mint) => ({ ...labelOf(mint), symbol })) } }
  })
  return { asked, ...result }
}

describe('The symbol of a token', () => {
  it('is shown beside its mint in a table and a record, but not in the data', async () => {
    const data = [{ mint: MINT, status: 'live' }]
    const rows = {
      columns: ['mint', 'quote_mint', 'status'],
      rows: [
        [MINT, WRAPPED_SOL, 'live'],
        ['none', null, 'x'],
      ],
    }
    const list = await shown({ data, rows })
    expect(list.table).toEqual({
      columns: ['mint', 'symbol', 'quote_mint', 'quote', 'status'],
      rows: [
        [MINT, 'MTK', WRAPPED_SOL, 'SOL', 'live'],
        ['none', null, null, null, 'x'],
      ],
    })
    expect([list.data, list.rows, list.asked]).toEqual([data, rows, [[MINT]]])
    const record = await shown({ data: { base_mint: MINT, n: 1 } })
    expect(Object.entries(record.record!)).toEqual([
      ['base_mint', MINT],
      ['symbol', 'MTK'],
      ['n', 1],
    ])
  })

  it('is requested once for each mint, for at most a hundred, and never if the answer has it', async () => {
    const many = Array.from({ length: 150 }, (_, n) => [`${MINT.slice(0, 40)}${String(n + 100).replaceAll('0', '9')}`])
    const list = await shown({ data: [], rows: { columns: ['mint'], rows: [...many, ...many] } })
    expect(list.asked.every((mints) => mints.length <= 100 && new Set(mints).size === mints.length)).toBe(true)
    const has = { data: [], rows: { columns: ['symbol', 'mint'], rows: [['X', MINT]] } }
    expect(await shown(has)).toEqual({ ...has, asked: [] })
    expect((await shown({ data: { address: POOL } })).asked).toEqual([])
    expect((await shown({ data: { mint: MINT }, text: 'said' })).asked).toEqual([])
  })

  it('is left out where there is none, and where nobody answers in time', async () => {
    const outcome = { data: [], rows: { columns: ['mint'], rows: [[MINT]] } }
    expect((await shown(outcome, null)).table).toBeUndefined()
    expect(await withSymbols(outcome, () => Promise.reject(new Error('gone')))).toEqual(outcome)
    expect(await withSymbols(outcome, () => new Promise(() => undefined))).toEqual(outcome)
  })
})

describe('The names of addresses in what is signed', () => {
  type Labels = { mint: string; symbol: string | null }[]
  /** The names of a mint and a vault that an instruction calls mints. */
  async function named(tokens: Labels | Promise<never>) {
    const asked: string[][] = []
    const client = {
      tokens: {
        async batchFetch({ mints }: { mints: string[] }) {
          asked.push(mints)
          return { data: { tokens: await tokens } }
        },
      },
    }
    const session = { client, wallet: { address: async () => OWN } } as unknown as Session
    const accounts = [MINT, VAULT, SYSTEM_PROGRAM].map((address) => ({ address, role: 'mint' }))
    const content = { instructions: [{ accounts, args: [] }] } as unknown as DescribedContent
    const names = await addressNames(session, content, new Map([[VAULT, 'this vault']]))
    return { asked, names: [...names] }
  }
  const own = [
    [VAULT, 'this vault'],
    [OWN, 'you'],
  ]

  it('are symbols in quotes that they cannot leave', async () => {
    const { names, asked } = await named([{ mint: MINT, symbol: 'USDC" (this vault, "' }])
    expect([names, asked]).toEqual([[...own, [MINT, String.raw`"USDC\" (this vault, \""`]], [[MINT]]])
  })

  it('are of no address that was not asked for', async () => {
    const lies = [POOL, VAULT, OWN, SYSTEM_PROGRAM].map((mint) => ({ mint, symbol: 'USDC' }))
    expect((await named(lies)).names).toEqual(own)
  })

  it('are left out if nobody answers in time', async () => {
    expect((await named(new Promise<never>(() => undefined))).names).toEqual(own)
    expect((await named(Promise.reject(new Error('gone')))).names).toEqual(own)
  })
})

describe('Links to the explorer', () => {
  it('lead to addresses and transactions of the public clusters, and take no columns', () => {
    const text = `POOL ${POOL}  SIGNATURE ${SIGNATURE}\n`
    const linked = withExplorerLinks(text, 'devnet')
    expect(linked).toContain(
      `\u001b]8;;https://explorer.solana.com/address/${POOL}?cluster=devnet\u001b\\${POOL}\u001b]8;;\u001b\\`,
    )
    expect(linked).toContain(`\u001b]8;;https://explorer.solana.com/tx/${SIGNATURE}?cluster=devnet\u001b\\`)
    expect(linked.replace(/\u001b\]8;;[^\u001b]*\u001b\\/g, '')).toBe(text)
    expect(withExplorerLinks(text, 'mainnet-beta')).toContain(`address/${POOL}\u001b\\`)
  })

  it('are not made for ids, keys, shortened addresses or unknown clusters', () => {
    const others = `evt_${POOL} svc_live_${POOL} 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw CK3Kx…4RAK4 ${'1'.repeat(60)} ${'z'.repeat(44)}`
    expect(withExplorerLinks(others, 'mainnet-beta')).toBe(others)
    for (const cluster of [null, 'embedded', 'node.example.com', 'constructor', '__proto__'])
      expect(withExplorerLinks(POOL, cluster)).toBe(POOL)
  })

  it('are shown only by terminals that support them', () => {
    const shows = (env: Record<string, string>, isTerminal = true) => showsLinks(env, isTerminal)
    expect(shows({ TERM_PROGRAM: 'iTerm.app' })).toBe(true)
    expect(shows({ VTE_VERSION: '6003' })).toBe(true)
    expect(shows({ VTE_VERSION: '4000' })).toBe(false)
    expect(shows({ TERM: 'xterm-kitty' })).toBe(true)
    expect(shows({ TERM_PROGRAM: 'tmux', TERM_PROGRAM_VERSION: '3.5a', TMUX: '/tmp/x' })).toBe(true)
    expect(shows({ TERM_PROGRAM: 'tmux', TERM_PROGRAM_VERSION: '3.2', VTE_VERSION: '6003' })).toBe(false)
    expect(shows({ TERM: 'xterm-256color' })).toBe(false)
    expect(shows({ VTE_VERSION: '6003', CI: 'true' })).toBe(false)
    expect(shows({ VTE_VERSION: '6003' }, false)).toBe(false)
    expect(shows({ FORCE_HYPERLINK: '1' }, false)).toBe(true)
    expect(shows({ FORCE_HYPERLINK: '0', VTE_VERSION: '6003' })).toBe(false)
  })
})
