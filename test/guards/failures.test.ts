/** What a failed guard says, on the real program: whose it is, what would have happened, and what it allows. */
import { describe, expect, it } from 'vitest'
import { explainTransactionError } from '../../src/chain/errors/index.ts'
import { failureWords } from '../../src/chain/sending/stored-errors.ts'
import { namesIn } from '../../src/chain/sending/transactions.ts'
import { type Guard, tokenGuard, withGuards } from '../../src/solana/guards.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { associatedTokenAddress } from '../../src/solana/program-addresses.ts'
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../src/solana/program-ids.ts'
import { ASSOCIATED_TOKEN } from '../../src/solana/programs/associated-token.ts'
import { LIGHTHOUSE } from '../../src/solana/programs/lighthouse.ts'
import { SQUADS } from '../../src/solana/programs/squads.ts'
import { SYSTEM } from '../../src/solana/programs/system.ts'
import type { PlainInstruction } from '../../src/solana/programs/table.ts'
import { TOKEN } from '../../src/solana/programs/token.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { plainTransaction, putTokens } from '../support/guarded-transactions.ts'
import { hasProgram, PROGRAMS_DIR, SOL, sharedTestChain, someone } from '../support/local-chain.ts'

const open = sharedTestChain({ programsDir: PROGRAMS_DIR })
const OVER = 'the act is over, and at most its fee was spent: make it again, which shows what it takes now'

/** A wallet with 1,000 raw units in its associated account, and what acts of it are called. */
async function scene() {
  const { chain } = await open()
  const [wallet, payer, other, mint] = Array.from({ length: 4 }, () => someone().toBase58()) as [
    string,
    string,
    string,
    string,
  ]
  for (const address of [wallet, payer]) chain.airdrop(address, 10n * SOL)
  const account = associatedTokenAddress(wallet, mint, TOKEN_PROGRAM)
  putTokens(chain, account, { mint, owner: wallet, amount: 1_000n })
  const by = { authority: wallet, signers: [] }
  const give = (kind: number, newAuthority: string | null) =>
    TOKEN.instruction('setAuthority', { account, ...by }, { kind, newAuthority })
  const acts = {
    pay: (lamports: bigint) => SYSTEM.instruction('transfer', { source: wallet, destination: other }, { lamports }),
    assign: SYSTEM.instruction('assign', { account: wallet }, { owner: PROGRAMS.lock.id }),
    allocate: SYSTEM.instruction('allocate', { account: wallet }, { space: 1n }),
    burn: TOKEN.instruction('burn', { account, mint, ...by }, { amount: 1_000n }),
    approve: TOKEN.instruction('approve', { source: account, delegate: other, ...by }, { amount: 1n }),
    giveOwner: give(2, other),
    giveClose: give(3, other),
    close: TOKEN.instruction('closeAccount', { account, destination: wallet, ...by }, {}),
    open: ASSOCIATED_TOKEN.instruction(
      'create',
      { source: payer, account, wallet, mint, systemProgram: SYSTEM_PROGRAM, tokenProgram: TOKEN_PROGRAM },
      {},
    ),
  }
  return { chain, wallet, payer, other, account, ...acts }
}

type Scene = Awaited<ReturnType<typeof scene>>

/** The explanation of a simulation, or of a transaction that failed on chain, of which only the bytes are known. */
function explained(
  { chain, payer }: Pick<Scene, 'chain' | 'payer'>,
  { guards, instructions }: { guards: readonly Guard[]; instructions: readonly PlainInstruction[] },
  { withLog = true } = {},
) {
  const { blockhash: recentBlockhash } = chain.latestBlockhash()
  const transaction = withGuards(plainTransaction({ payer, recentBlockhash }, instructions), guards)
  const { err, logs } = chain.simulate(transaction, { sigVerify: false })
  expect(err, logs.join('\n')).not.toBeNull()
  const names = namesIn(decodeWireTransaction(transaction).message)
  return explainTransactionError(err, { ...names, ...(withLog && { logs }) })
}

type Broken = (of: Scene) => { guards: Guard[]; instructions: PlainInstruction[]; why: string; unlogged?: string }

const BROKEN: Record<string, Broken> = {
  'that lets less SOL leave': ({ wallet, pay }) => ({
    guards: [{ kind: 'wallet', address: wallet, change: -SOL }],
    instructions: [pay((SOL * 6n) / 5n)],
    why: `the guard of ${wallet} stopped it: 1.2 SOL would have left, at most 1 SOL may`,
    unlogged: `the guard of ${wallet} stopped it: more than 1 SOL would have left`,
  }),
  'that wants SOL to come in': ({ wallet, pay }) => ({
    guards: [{ kind: 'wallet', address: wallet, change: SOL }],
    instructions: [pay(0n)],
    why: `the guard of ${wallet} stopped it: 0 SOL would have come in, at least 1 SOL must`,
    unlogged: `the guard of ${wallet} stopped it: less would have come in, at least 1 SOL must`,
  }),
  'of a wallet that goes to a program': ({ wallet, assign }) => ({
    guards: [{ kind: 'wallet', address: wallet, change: 0n }],
    instructions: [assign],
    why: `the guard of ${wallet} stopped it: its program changed meanwhile to Jupiter Lock`,
    unlogged: `the guard of ${wallet} stopped it: its program changed meanwhile`,
  }),
  'of a wallet that gets data': ({ wallet, allocate }) => ({
    guards: [{ kind: 'wallet', address: wallet, change: 0n }],
    instructions: [allocate],
    why: `the guard of ${wallet} stopped it: it got data meanwhile`,
  }),
  'that lets fewer tokens leave': ({ account, burn }) => ({
    guards: [tokenGuard(account, { change: -999n })],
    instructions: [burn],
    why: `the guard of ${account} stopped it: 1,000 raw units would have left, at most 999 raw units may`,
    unlogged: `the guard of ${account} stopped it: more than 999 raw units would have left`,
  }),
  'of an account that gets a delegate': ({ account, approve, other }) => ({
    guards: [tokenGuard(account)],
    instructions: [approve],
    why: `the guard of ${account} stopped it: its delegate changed meanwhile to ${other}`,
    unlogged: `the guard of ${account} stopped it: its delegate changed meanwhile`,
  }),
  'of an account whose delegate is gone': ({ account, pay, other }) => ({
    guards: [tokenGuard(account, { delegate: other })],
    instructions: [pay(0n)],
    why: `the guard of ${account} stopped it: its delegate changed meanwhile to nobody`,
    unlogged: `the guard of ${account} stopped it: its delegate changed meanwhile`,
  }),
  'of an account whose delegate could take more': ({ account, approve, other }) => ({
    guards: [tokenGuard(account, { delegate: other, delegated: 0n })],
    instructions: [approve],
    why: `the guard of ${account} stopped it: its delegate could take 1 raw units meanwhile, at most 0 raw units may be`,
    unlogged: `the guard of ${account} stopped it: its delegate could take more meanwhile, at most 0 raw units may be`,
  }),
  'of an account of another mint': ({ account, pay, wallet, other }) => ({
    guards: [tokenGuard(account, { owner: wallet, mint: other })],
    instructions: [pay(0n)],
    why: expect.stringMatching(`^the guard of ${account} stopped it: its mint changed meanwhile to `),
    unlogged: `the guard of ${account} stopped it: its mint changed meanwhile`,
  }),
  'of an account that others may close': ({ account, giveClose, other }) => ({
    guards: [tokenGuard(account)],
    instructions: [giveClose],
    why: `the guard of ${account} stopped it: its close authority changed meanwhile to ${other}`,
    unlogged: `the guard of ${account} stopped it: its close authority changed meanwhile`,
  }),
  'of an associated account that goes to another': ({ account, giveOwner }) => ({
    guards: [tokenGuard(account)],
    instructions: [giveOwner],
    why: `the guard of ${account} stopped it: its owner changed meanwhile`,
  }),
  'of another account that goes to another': ({ account, giveOwner, wallet, other }) => ({
    guards: [tokenGuard(account, { owner: wallet })],
    instructions: [giveOwner],
    why: `the guard of ${account} stopped it: its owner changed meanwhile to ${other}`,
    unlogged: `the guard of ${account} stopped it: its owner changed meanwhile`,
  }),
  'of an account that thaws': ({ account, pay }) => ({
    guards: [tokenGuard(account, { isFrozen: true })],
    instructions: [pay(0n)],
    why: `the guard of ${account} stopped it: it was thawed meanwhile`,
  }),
  'of an account that the transaction opens': ({ account, pay }) => ({
    guards: [tokenGuard(account, { change: null, least: 2_000n })],
    instructions: [pay(0n)],
    why: `the guard of ${account} stopped it: it would hold 1,000 raw units, at least 2,000 raw units must be there`,
    unlogged: `the guard of ${account} stopped it: it would hold less than 2,000 raw units`,
  }),
  'of an account that is closed': ({ account, burn, close }) => ({
    guards: [tokenGuard(account, { change: -1_000n })],
    instructions: [burn, close],
    why: `the guard of ${account} stopped it: it was closed meanwhile`,
  }),
  'of an account that is opened and closed again': ({ account, burn, close }) => ({
    guards: [tokenGuard(account, { change: null })],
    instructions: [burn, close],
    why: `the guard of ${account} stopped it: it was closed meanwhile`,
  }),
}

describe.skipIf(!hasProgram(PROGRAMS.lighthouse.id))('a guard', () => {
  it.each(Object.entries(BROKEN))('%s says so, with a log and without one', async (_, broken) => {
    const own = await scene()
    const { why, unlogged = why, ...built } = broken(own)
    const [seen, landed] = [explained(own, built), explained(own, built, { withLog: false })]
    expect(seen).toMatchObject({ program: 'Lighthouse', message: why, hint: OVER })
    expect(landed).toMatchObject({ program: 'Lighthouse', message: unlogged, hint: OVER })
  })

  it('of a stored transaction is explained by its bytes, and in general words once they are removed', async () => {
    const { chain, wallet, payer, pay } = await scene()
    const { blockhash: recentBlockhash } = chain.latestBlockhash()
    const guards: Guard[] = [{ kind: 'wallet', address: wallet, change: -SOL }]
    const raw = withGuards(plainTransaction({ payer, recentBlockhash }, [pay(2n * SOL)]), guards)
    const err_json = JSON.stringify(chain.simulate(raw, { sigVerify: false }).err)
    const why = `Lighthouse: the guard of ${wallet} stopped it: more than 1 SOL would have left`
    expect(failureWords({ err_json, raw })).toBe(why)
    expect(failureWords({ err_json, raw: Buffer.alloc(0) })).toMatch(/^the program failed with its own error 6001/)
  })

  it('of an account that was closed before says so at the start', async () => {
    const own = await scene()
    own.chain.setAccount(own.account, {
      lamports: 0n,
      owner: SYSTEM_PROGRAM,
      data: new Uint8Array(),
      executable: false,
    })
    const { message } = explained(own, { guards: [tokenGuard(own.account)], instructions: [own.pay(0n)] })
    expect(message).toBe(`the guard of ${own.account} stopped it: it was closed meanwhile`)
  })

  it('cannot be lent its memory by a payer without SOL, which gets the hint', async () => {
    const own = await scene()
    const payer = someone().toBase58()
    own.chain.airdrop(payer, 680_000n)
    const guards: Guard[] = [{ kind: 'wallet', address: own.wallet, change: 0n }]
    const spend = SYSTEM.instruction('transfer', { source: payer, destination: own.wallet }, { lamports: 0n })
    const { hint } = explained({ ...own, payer }, { guards, instructions: [spend] })
    expect(hint).toMatch(/^the fee payer lends the guards the rent of their memory/)
  })

  it('around the execution of a proposal says that the proposal stays approved', async () => {
    const own = await scene()
    const guards: Guard[] = [{ kind: 'wallet', address: own.wallet, change: -1n }]
    const transaction = withGuards(
      plainTransaction({ payer: own.payer, recentBlockhash: own.chain.latestBlockhash().blockhash }, [own.pay(2n)]),
      guards,
    )
    const names = namesIn(decodeWireTransaction(transaction).message)
    const [execute = ''] = SQUADS.prefixesOf('vault_transaction_execute')
    const execution = { program: SQUADS.id, accounts: [own.wallet], data: Buffer.from(execute, 'hex') }
    const instructions = names.instructions.map((each) => (each.program === SYSTEM_PROGRAM ? execution : each))
    const index = instructions.findLastIndex(({ data }) => LIGHTHOUSE.nameOf(data) === 'assert_account_delta')
    const err = { InstructionError: [index, { Custom: 6001 }] }
    expect(explainTransactionError(err, { ...names, instructions }).hint).toMatch(
      /^at most the fee was spent; the proposal stays approved/,
    )
  })

  it('of a wallet app says what it requires and what is there', async () => {
    const own = await scene()
    const assertion = (name: string, value: unknown, operator: string) => ({
      name,
      value: { value, operator: { name: operator, value: null } },
    })
    const info = LIGHTHOUSE.instruction(
      'assert_account_info',
      { target_account: own.wallet },
      {
        log_level: { name: 'plaintext', value: null },
        assertion: assertion('lamports', 20n * SOL, 'greater_than_or_equal'),
      },
    )
    expect(explained(own, { guards: [], instructions: [own.pay(0n), info] })).toMatchObject({
      message: `the guard of ${own.wallet} stopped it: the transaction requires that lamports of ${own.wallet} is at least 20 SOL, and it is 10 SOL`,
    })
  })
})
