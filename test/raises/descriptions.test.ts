/** What people read of a raise before they approve it: modes by name, amounts of the mint that they are of, and control. */
import { expect, it } from 'vitest'
import { raises } from '../../src/api/raises.ts'
import { describeMessage } from '../../src/chain/instructions/describe.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { goldenKey, goldenTransaction } from '../support/golden.ts'
import { addressOf } from '../support/wallets.ts'

const describe = (name: string) =>
  describeMessage(decodeWireTransaction(goldenTransaction(`raises/${name}.json`)).message)
const [creator, quoteMint] = [91, 95].map((seed) => addressOf(goldenKey(seed)))

/** The values of an instruction's arguments by name. */
function argsOf(name: string, place: number): Record<string, string> {
  const { args } = describe(name)[place]!
  return Object.fromEntries(args.map(({ name, value }) => [name, value]))
}

it('the creation of a raise names its modes, and whom its money goes to', () => {
  expect(argsOf('create-fixed-price', 0)).toMatchObject({ disable_withdraw: 'false', q_price: String(1n << 63n) })
  const args = { whitelist_mode: 'merkle', presale_mode: 'fixed_price', unsold_token_action: 'burn' }
  expect(argsOf('create-fixed-price', 1)).toMatchObject({ ...args, presale_maximum_cap: '1000' })
  expect(argsOf('create-first-come', 0)).toMatchObject({ presale_mode: 'first_come', whitelist_mode: 'none' })
  const [creation] = describe('create')
  const raise = creation!.accounts.find(({ role }) => role === 'presale')!.address
  expect(creation!.control).toEqual([
    `what the raise ${raise} brings goes to ${creator} for good; its unsold tokens, too`,
  ])
  expect(creation!.args.find(({ name }) => name === 'presale_maximum_cap')).toMatchObject({
    unit: 'tokens',
    of: quoteMint,
  })
})

it('the request of a raise says whose vault is paid', async () => {
  const vault = { multisig: creator!, vault_index: 1 }
  const input = { mint: quoteMint, supply: '5', max: '9', payer: quoteMint, creator_vault: vault }
  const words = await raises.create.says?.(input as never, async (raw) => String(raw))
  expect(words).toBe(
    `Raise at most 9 raw units for 5 of the token ${quoteMint}, paid to vault 1 of the multisig ${creator}`,
  )
})

it('the request of a settlement promises no pool that nobody has planned', async () => {
  const words = (skip_pool: boolean) =>
    raises.settle.says?.({ id: 'X', skip_pool } as never, async (raw) => String(raw))
  expect(await words(false)).toBe('Settle the raise X: take what was raised, and open its pool if one is planned here')
  expect(await words(true)).toBe('Settle the raise X: take what was raised without a pool')
})

it('the opening of a raise says who may buy, and where proofs come from', () => {
  const controls = describe('open').flatMap(({ control }) => control)
  expect(controls).toEqual([
    expect.stringMatching(/^the wallets of the list with the root below may buy in the raise \w+$/),
    expect.stringMatching(/^buyers of the raise \w+ get their proofs from https:\/\/launch.example\/raise$/),
  ])
})

it('deposits and withdrawals of a raise are amounts of its quote', () => {
  const [, deposit] = describe('deposit')
  expect(deposit!.args[0]).toMatchObject({ name: 'max_amount', unit: 'tokens', of: quoteMint })
  expect(describe('withdraw')[0]!.args[0]).toMatchObject({
    name: 'amount',
    value: '300',
    unit: 'tokens',
    of: quoteMint,
  })
})
