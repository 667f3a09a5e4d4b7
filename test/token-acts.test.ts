/** Acts on tokens over HTTP, on both token programs: minted, burned, frozen and thawed by whoever holds the authority. */
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, VersionedTransaction } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { api } from '../src/api/index.ts'
import type { AnyRoute } from '../src/api/route.ts'
import { actWords } from '../src/operations/proposals/squads/act-words.ts'
import { MAX_U64 } from '../src/solana/u64.ts'
import { approversOf, decide, NOTHING_WAITS } from './support/approvers.ts'
import { addressOf, createMint, type Extension, give, run, tokenAccountOf, unitsIn } from './support/gold.ts'
import { landOn } from './support/launches.ts'
import { sharedPlatform, startPlatform } from './support/platform-wallet.ts'
import { lacksGuards } from './support/programs.ts'
import { runs } from './support/runs.ts'
import { SOL } from './support/wallets.ts'

const shared = sharedPlatform()

const PROGRAMS = [
  ['SPL Token', spl.TOKEN_PROGRAM_ID],
  ['Token-2022', spl.TOKEN_2022_PROGRAM_ID],
] as const

const FROZEN_AT_FIRST: Extension = {
  type: spl.ExtensionType.DefaultAccountState,
  initialize: (mint, program) =>
    spl.createInitializeDefaultAccountStateInstruction(mint, spl.AccountState.Frozen, program),
}
const DELEGATED: Extension = {
  type: spl.ExtensionType.PermanentDelegate,
  initialize: (mint, program, authority) => spl.createInitializePermanentDelegateInstruction(mint, authority, program),
}
const PAUSABLE: Extension = {
  type: spl.ExtensionType.PausableConfig,
  initialize: (mint, program, authority) => spl.createInitializePausableConfigInstruction(mint, authority, program),
}

async function opened(program: PublicKey, extensions?: Extension[]) {
  const platform = await shared()
  const chain = await platform.services.chain.local()
  const funded = () => {
    const key = Keypair.generate()
    chain.airdrop(addressOf(key), 10n * SOL)
    return key
  }
  const authority = funded()
  const token = createMint(chain, authority, { program, ...(extensions === undefined ? {} : { extensions }) })
  const mint = token.mint.toBase58()
  const ask = async (method: string, path: string, body: object) =>
    (await platform.request(method, `/v2/tokens/${mint}${path === '' ? '' : `/${path}`}`, { body })).json
  const built = async (method: string, path: string, body: object) => {
    const { data, error } = await ask(method, path, body)
    expect(error).toBeUndefined()
    return data
  }
  const refused = async (method: string, path: string, body: object) => {
    const { error } = await ask(method, path, body)
    return { code: error.code, param: error.param, message: error.message, details: error.details }
  }
  const land = ({ transaction }: { transaction: string }, ...signers: Keypair[]) => landOn(chain, transaction, signers)
  const accountOf = (wallet: Keypair | string) =>
    tokenAccountOf(token, typeof wallet === 'string' ? new PublicKey(wallet) : wallet.publicKey)
  const read = (address: PublicKey) => {
    const account = chain.account(address.toBase58())!
    return { ...account, data: Buffer.from(account.data), owner: program, lamports: 0 }
  }
  return {
    ...{ ...platform, chain, funded, authority, token, mint, ask, built, refused, land, accountOf },
    held: (wallet: Keypair | string) => unitsIn(chain, accountOf(wallet)),
    isFrozen: (wallet: Keypair) => spl.unpackAccount(accountOf(wallet), read(accountOf(wallet)), program).isFrozen,
    supply: () => spl.unpackMint(token.mint, read(token.mint), program).supply,
    setAuthority(type: spl.AuthorityType, to: PublicKey | null) {
      const instruction = spl.createSetAuthorityInstruction(token.mint, authority.publicKey, type, to, [], program)
      expect(run(chain, [instruction], [authority]).err).toBeNull()
    },
  }
}

describe.each(PROGRAMS)('a token of %s', (_, program) => {
  it('is minted to its authority, to another wallet and to several, whose accounts are opened', async () => {
    const { built, land, authority, held, supply, funded, accountOf, mint } = await opened(program)
    const payer = addressOf(authority)
    const own = await built('POST', 'mints', { payer, amount: '500' })
    expect(own).toMatchObject({
      ...{ mode: 'unsigned', mint, authority: payer, total: '500', supply: '0', new_supply: '500' },
      recipients: [{ wallet: payer, token_account: accountOf(authority).toBase58(), amount: '500', opens: true }],
      requiredSigners: [payer],
      tracked_resource: { resource_type: 'token', resource_id: mint, related_events: [] },
    })
    land(own, authority)
    const [one, two] = [funded(), funded()]
    const to = await built('POST', 'mints', { payer, amount: '7', recipient: addressOf(one) })
    expect([to.rent === '0', to.supply, to.new_supply]).toEqual([false, '500', '507'])
    land(to, authority)
    const recipients = [one, two].map((key, i) => ({ wallet: addressOf(key), amount: String(10 + i) }))
    const several = await built('POST', 'mints', { payer, recipients, tx_version: 0 })
    expect(several.recipients.map(({ opens }: { opens: boolean }) => opens)).toEqual([false, true])
    land(several, authority)
    expect([held(authority), held(one), held(two), supply()]).toEqual([500n, 17n, 11n, 528n])
  })

  it('is burned by its owner alone, from the wallet or from another of its token accounts', async () => {
    const { built, refused, land, authority, held, supply, funded, chain, token, accountOf } = await opened(program)
    const owner = funded()
    give(chain, authority, token, owner.publicKey, 100n)
    const payer = addressOf(owner)
    const burned = await built('POST', 'burns', { payer, amount: '40' })
    expect(burned).toMatchObject({ authority: payer, total: '40', supply: '100', new_supply: '60' })
    land(burned, owner)
    land(await built('POST', 'burns', { payer, amount: '10', holder: accountOf(owner).toBase58() }), owner)
    expect([held(owner), supply()]).toEqual([50n, 50n])
    expect(await refused('POST', 'burns', { payer, amount: '51' })).toMatchObject({
      param: 'amount',
      details: { reason: 'too_little' },
      message: expect.stringContaining('(50 raw units), less than '),
    })
    const others = { payer: addressOf(authority), amount: '1', holder: payer }
    expect(await refused('POST', 'burns', others)).toMatchObject({
      param: 'holder',
      details: { reason: 'not_authorized' },
    })
    expect(await refused('POST', 'burns', { payer: addressOf(funded()), amount: '1' })).toMatchObject({
      param: 'payer',
      details: { reason: 'no_account' },
    })
  })

  it('is frozen and thawed, and each act that meets a frozen account says so', async () => {
    const { built, refused, land, authority, funded, chain, token, isFrozen, accountOf } = await opened(program)
    const holder = funded()
    const wallet = addressOf(holder)
    const payer = addressOf(authority)
    expect(await refused('POST', 'freezes', { payer, wallet })).toMatchObject({
      param: 'wallet',
      details: { reason: 'no_account' },
    })
    give(chain, authority, token, holder.publicKey, 100n)
    expect(await refused('DELETE', `freezes/${wallet}`, { payer })).toMatchObject({ details: { reason: 'not_frozen' } })
    const frozen = await built('POST', 'freezes', { payer, wallet })
    expect(frozen).toMatchObject({
      authority: payer,
      accounts: [{ wallet, token_account: accountOf(holder).toBase58(), opens: false }],
      rent: '0',
    })
    land(frozen, authority)
    expect(isFrozen(holder)).toBe(true)
    const again = await refused('POST', 'freezes', { payer, wallet })
    expect([again.details.reason, again.message]).toEqual(['frozen_already', expect.stringContaining('frozen already')])
    const reasons = [
      await refused('POST', 'mints', { payer, amount: '1', recipient: wallet }),
      await refused('POST', 'burns', { payer: wallet, amount: '1' }),
    ]
    expect(reasons.map(({ param, details }) => [param, details.reason])).toEqual([
      ['recipient', 'account_frozen'],
      ['payer', 'account_frozen'],
    ])
    land(await built('DELETE', `freezes/${wallet}`, { payer }), authority)
    expect(isFrozen(holder)).toBe(false)
    // The account itself may be named, and several at once.
    const other = funded()
    give(chain, authority, token, other.publicKey, 1n)
    const wallets = [accountOf(holder).toBase58(), addressOf(other)]
    land(await built('POST', 'freezes', { payer, wallets }), authority)
    expect([isFrozen(holder), isFrozen(other)]).toEqual([true, true])
    land(await built('DELETE', 'freezes', { payer, wallets }), authority)
    expect([isFrozen(holder), isFrozen(other)]).toEqual([false, false])
    const mixed = { payer, wallets: [wallet, addressOf(funded())] }
    expect(await refused('POST', 'freezes', mixed)).toMatchObject({ param: 'wallets.1' })
  })

  it('refuses what cannot be meant or done, by the name of the field', async () => {
    const { refused, authority, funded, token, mint, chain } = await opened(program)
    const payer = addressOf(authority)
    const wallet = addressOf(funded())
    const param = async (path: string, body: object) => (await refused('POST', path, { payer, ...body })).param
    const one = { wallet, amount: '1' }
    expect(await param('mints', {})).toBe('amount')
    expect(await param('mints', { amount: '0' })).toBe('amount')
    expect(await param('mints', { amount: '1', recipients: [one] })).toBe('amount')
    expect(await param('mints', { recipient: wallet, recipients: [one] })).toBe('recipient')
    expect(await param('mints', { recipients: [one, one] })).toBe('recipients.1.wallet')
    expect(await param('mints', { amount: '1', recipient: mint })).toBe('recipient')
    const vault = tokenAccountOf(token, new PublicKey(wallet)).toBase58()
    expect(await param('mints', { recipients: [one, { wallet: vault, amount: '1' }] })).toBe('recipients.1.wallet')
    expect(await param('burns', { holder: wallet, holders: [one] })).toBe('holder')
    expect(await param('freezes', { wallet, wallets: [wallet] })).toBe('wallet')
    expect(await param('freezes', { wallets: [wallet, wallet] })).toBe('wallets.1')
    const poor = Keypair.generate()
    const { code } = await refused('POST', 'mints', { payer: addressOf(poor), amount: '1' })
    expect(code).toBe('bad_request')

    give(chain, authority, token, authority.publicKey, MAX_U64 - 5n)
    const full = await refused('POST', 'mints', { payer, amount: '6' })
    expect([full.param, full.details.room]).toEqual(['amount', '5'])
    expect(full.message).toContain('(5 raw units) more can be minted')
    const both = [one, { wallet: payer, amount: '5' }]
    expect(await param('mints', { recipients: both })).toBe('recipients')
  })

  it.for([
    ['off', 'none'],
    ['required', 'whole'],
  ])('says how many wallets of a list fit into one transaction with guards %s', async ([guard, state], { skip }) => {
    skip(lacksGuards && guard === 'required', 'needs Lighthouse')
    const { refused, built, land, authority, held } = await opened(program)
    const payer = addressOf(authority)
    const recipients = Array.from({ length: 64 }, () => ({ wallet: addressOf(Keypair.generate()), amount: '3' }))
    const { param, details } = await refused('POST', 'mints', { payer, recipients, guard })
    expect([param, details.recipients]).toEqual(['recipients', 64])
    expect(details.fits).toBeGreaterThan(guard === 'off' ? 8 : 7)
    const first = recipients.slice(0, details.fits)
    const minted = await built('POST', 'mints', { payer, recipients: first, guard })
    expect(minted.guard.state).toBe(state)
    land(minted, authority)
    expect(first.map(({ wallet }) => held(wallet))).toEqual(first.map(() => 3n))
    const wallets = first.map(({ wallet }) => wallet)
    land(await built('POST', 'freezes', { payer, wallets, guard }), authority)
    land(await built('DELETE', 'freezes', { payer, wallets, guard }), authority)
  })

  it('is minted, burned and frozen by the platform wallet within its policy, and a dry run leaves nothing', async () => {
    const { request, wallet, ask, mint, setAuthority, funded, held, chain, isFrozen, built } = await opened(program)
    setAuthority(spl.AuthorityType.MintTokens, wallet.publicKey)
    setAuthority(spl.AuthorityType.FreezeAccount, wallet.publicKey)
    const holder = funded()
    const body = { payer: addressOf(holder), amount: '30', recipient: addressOf(holder), mode: 'signed' }
    const { error } = await ask('POST', 'mints', body)
    expect([error.code, error.details.rule]).toEqual(['bad_request', 'tokens_per_transaction'])
    const tokens = [{ mint, per_transaction: '100', per_day: '100' }]
    await request('PATCH', '/v2/signer/policy', { body: { tokens } })

    const count = async () => (await request('GET', '/v2/audit-entries?limit=100')).json.data.length
    const before = await count()
    const dry = await built('POST', 'mints', { ...body, mode: 'unsigned', payer: addressOf(wallet), dry_run: true })
    expect([dry.mode, held(holder), await count()]).toEqual(['unsigned', null, before])

    const minted = await built('POST', 'mints', body)
    expect(minted).toMatchObject({ mode: 'signed', authority: addressOf(wallet), new_supply: '30' })
    chain.advance(1)
    expect(held(holder)).toBe(30n)
    const freezing = { ...body, amount: undefined, recipient: undefined, wallet: addressOf(holder) }
    expect((await ask('POST', 'freezes', freezing)).error.details).toMatchObject({ rule: 'power', power: 'freeze' })
    expect(isFrozen(holder)).toBe(false)
    await request('PATCH', '/v2/signer/policy', { body: { powers: ['freeze'] } })
    const frozen = await built('POST', 'freezes', freezing)
    await request('PATCH', '/v2/signer/policy', { body: { powers: [] } })
    chain.advance(1)
    expect([frozen.mode, isFrozen(holder)]).toEqual(['signed', true])
    await built('DELETE', `freezes/${addressOf(holder)}`, { payer: addressOf(holder), mode: 'signed' })
    chain.advance(1)
    expect(isFrozen(holder)).toBe(false)
    await built('POST', 'mints', { ...body, recipient: undefined })
    chain.advance(1)
    const burned = await built('POST', 'burns', { payer: addressOf(holder), amount: '10', mode: 'signed' })
    chain.advance(1)
    expect([burned.new_supply, held(addressOf(wallet))]).toEqual(['50', 20n])
    const spent = await ask('POST', 'mints', { ...body, amount: '100' })
    expect(spent.error.details.rule).toBe('tokens_per_day')
  })

  it('keeps supply and balances exact through any acts, and what the API refuses the program refuses too', {
    tags: 'sampled',
  }, async () => {
    const Act = fc.record({
      kind: fc.constantFrom('mint', 'burn', 'freeze', 'thaw' as const),
      who: fc.nat(2),
      amount: fc.oneof(fc.bigInt(1n, 50n), fc.bigInt(1n, MAX_U64)),
    })
    const { ask, land, authority, funded, held, isFrozen, supply, chain, token, accountOf } = await opened(program)
    const wallets = [funded(), funded(), funded()]
    for (const { publicKey } of wallets) give(chain, authority, token, publicKey, 1n)
    await fc.assert(
      fc.asyncProperty(fc.array(Act, { minLength: 1, maxLength: 8 }), async (acts) => {
        for (const { kind, who, amount } of acts) {
          const holder = wallets[who]!
          const wallet = addressOf(holder)
          const [before, total, frozen] = [held(holder)!, supply(), isFrozen(holder)]
          const signer = kind === 'burn' ? holder : authority
          const payer = addressOf(signer)
          const { data, error } =
            kind === 'mint'
              ? await ask('POST', 'mints', { payer, amount: String(amount), recipient: wallet })
              : kind === 'burn'
                ? await ask('POST', 'burns', { payer, amount: String(amount) })
                : kind === 'freeze'
                  ? await ask('POST', 'freezes', { payer, wallet })
                  : await ask('DELETE', `freezes/${wallet}`, { payer })
          const can = {
            mint: !frozen && total + amount <= MAX_U64,
            burn: !frozen && amount <= before,
            freeze: !frozen,
            thaw: frozen,
          }[kind]
          expect([kind, error === undefined]).toEqual([kind, can])
          const args = [token.mint, signer.publicKey] as const
          const account = accountOf(holder)
          if (can) land(data, signer)
          else {
            const [mint, by] = args
            const direct = {
              mint: () => spl.createMintToInstruction(mint, account, by, amount, [], program),
              burn: () => spl.createBurnInstruction(account, mint, by, amount, [], program),
              freeze: () => spl.createFreezeAccountInstruction(account, mint, by, [], program),
              thaw: () => spl.createThawAccountInstruction(account, mint, by, [], program),
            }[kind]()
            expect(run(chain, [direct], [signer]).err).not.toBeNull()
            chain.advance(1)
          }
          const change = !can ? 0n : kind === 'mint' ? amount : kind === 'burn' ? -amount : 0n
          expect([held(holder), supply()]).toEqual([before + change, total + change])
          expect(isFrozen(holder)).toBe(can && kind === 'freeze' ? true : can && kind === 'thaw' ? false : frozen)
        }
        expect(wallets.reduce((sum, each) => sum + held(each)!, 0n)).toBe(supply())
      }),
      { numRuns: runs(12, 200) },
    )
  })
})

describe('a Token-2022 mint', () => {
  const program = spl.TOKEN_2022_PROGRAM_ID

  it('whose new accounts are frozen is minted after a thaw, which opens a missing account', async () => {
    const { built, refused, land, authority, funded, held, isFrozen } = await opened(program, [FROZEN_AT_FIRST])
    const holder = funded()
    const wallet = addressOf(holder)
    const payer = addressOf(authority)
    const early = await refused('POST', 'mints', { payer, amount: '5', recipient: wallet })
    expect([early.details.reason, early.message]).toEqual([
      'new_accounts_frozen',
      expect.stringContaining('`svc tokens thaw` opens and thaws one'),
    ])
    const thawed = await built('DELETE', `freezes/${wallet}`, { payer })
    expect([thawed.accounts[0].opens, BigInt(thawed.rent) > 0n]).toEqual([true, true])
    land(thawed, authority)
    expect(isFrozen(holder)).toBe(false)
    land(await built('POST', 'mints', { payer, amount: '5', recipient: wallet }), authority)
    expect(held(holder)).toBe(5n)
  })

  it('whose permanent delegate is the platform wallet is burned from holders within its policy alone', async () => {
    const { request, wallet, ask, built, authority, funded, chain, token, mint, held, setAuthority } = await opened(
      program,
      [DELEGATED],
    )
    setAuthority(spl.AuthorityType.PermanentDelegate, wallet.publicKey)
    const holder = funded()
    give(chain, authority, token, holder.publicKey, 100n)
    const body = { payer: addressOf(holder), holder: addressOf(holder), amount: '60', mode: 'signed' }
    expect((await ask('POST', 'burns', body)).error?.details.rule).toBe('tokens_per_transaction')
    const tokens = [{ mint, per_transaction: '60', per_day: '100' }]
    await request('PATCH', '/v2/signer/policy', { body: { tokens } })
    await built('POST', 'burns', body)
    chain.advance(1)
    expect(held(holder)).toBe(40n)
    const more = { tokens: [{ mint, per_transaction: '60', per_day: '99' }] }
    await request('PATCH', '/v2/signer/policy', { body: more })
    expect((await ask('POST', 'burns', { ...body, amount: '40' })).error?.details.rule).toBe('tokens_per_day')
  })

  it('with a permanent delegate is burned by it from any holder, one or several', async () => {
    const { built, refused, land, authority, funded, chain, token, held } = await opened(program, [DELEGATED])
    const [one, two] = [funded(), funded()]
    for (const { publicKey } of [one, two]) give(chain, authority, token, publicKey, 10n)
    const payer = addressOf(authority)
    land(await built('POST', 'burns', { payer, amount: '4', holder: addressOf(one) }), authority)
    const holders = [one, two].map((key) => ({ wallet: addressOf(key), amount: '5' }))
    land(await built('POST', 'burns', { payer, holders }), authority)
    expect([held(one), held(two)]).toEqual([1n, 5n])
    expect(await refused('POST', 'burns', { payer, holders })).toMatchObject({
      param: 'holders.0.wallet',
      details: { reason: 'too_little' },
    })
    const stranger = { payer: addressOf(two), amount: '1', holder: addressOf(one) }
    expect((await refused('POST', 'burns', stranger)).message).toContain(`permanent delegate of`)
  })

  it('that is paused is neither minted nor burned', async () => {
    const { refused, authority, chain, token, mint } = await opened(program, [PAUSABLE])
    give(chain, authority, token, authority.publicKey, 10n)
    const pause = spl.createPauseInstruction(token.mint, authority.publicKey, [], program)
    expect(run(chain, [pause], [authority]).err).toBeNull()
    for (const path of ['mints', 'burns']) {
      const { param, details, message } = await refused('POST', path, { payer: addressOf(authority), amount: '1' })
      expect([param, details, message]).toEqual([
        'mint',
        { reason: 'paused' },
        expect.stringContaining(`${mint} is paused`),
      ])
    }
  })
})

const HOOK = Keypair.generate().publicKey
const HOOKED: Extension = {
  type: spl.ExtensionType.TransferHook,
  initialize: (mint, program, authority) => spl.createInitializeTransferHookInstruction(mint, authority, HOOK, program),
}

describe('a mint of Token-2022 with a transfer hook', () => {
  it('is minted, burned and frozen without its program, and a transfer by the platform wallet is refused', async () => {
    const { built, request, land, authority, funded, wallet, mint } = await opened(spl.TOKEN_2022_PROGRAM_ID, [HOOKED])
    const holder = funded()
    const payer = addressOf(authority)
    const hooks = [HOOK, spl.getExtraAccountMetaAddress(new PublicKey(mint), HOOK)].map((key) => key.toBase58())
    for (const [path, by, body] of [
      ['mints', authority, { payer, amount: '9', recipient: addressOf(wallet) }],
      ['mints', authority, { payer, amount: '9', recipient: addressOf(holder) }],
      ['burns', holder, { payer: addressOf(holder), amount: '4' }],
      ['freezes', authority, { payer, wallet: addressOf(holder) }],
    ] as const) {
      const data = await built('POST', path, { ...body, tx_version: 0 })
      const { message } = VersionedTransaction.deserialize(Buffer.from(data.transaction, 'base64'))
      const keys = message.staticAccountKeys.map((key) => key.toBase58())
      expect([keys.filter((key) => hooks.includes(key)), message.addressTableLookups]).toEqual([[], []])
      land(data, by)
    }
    const body = { mode: 'signed', mint, recipients: [{ wallet: addressOf(funded()), amount: '1' }] }
    const { json } = await request('POST', '/v2/token-transfers', { body: { payer: addressOf(wallet), ...body } })
    expect([json.error?.param, json.error?.details]).toEqual([
      'mint',
      { reason: 'transfer_hook', transfer_hook: HOOK.toBase58() },
    ])
  })
})

const CLOSABLE: Extension = {
  type: spl.ExtensionType.MintCloseAuthority,
  initialize: (mint, program, authority) => spl.createInitializeMintCloseAuthorityInstruction(mint, authority, program),
}

describe('a mint of Token-2022', () => {
  const program = spl.TOKEN_2022_PROGRAM_ID

  it('is paused and resumed by its pause authority alone', async () => {
    const { built, refused, land, authority, funded, chain, token, mint, held } = await opened(program, [PAUSABLE])
    const payer = addressOf(authority)
    give(chain, authority, token, authority.publicKey, 10n)
    expect(await refused('DELETE', 'pause', { payer })).toMatchObject({
      param: 'mint',
      details: { reason: 'no_change' },
    })
    const stranger = await refused('PUT', 'pause', { payer: addressOf(funded()) })
    expect([stranger.param, stranger.details]).toEqual(['payer', { authority: payer }])
    const paused = await built('PUT', 'pause', { payer })
    expect(paused).toMatchObject({ mode: 'unsigned', mint, authority: payer, tracked_resource: { resource_id: mint } })
    land(paused, authority)
    expect((await refused('PUT', 'pause', { payer })).message).toContain('is paused already')
    expect(await refused('POST', 'burns', { payer, amount: '1' })).toMatchObject({ details: { reason: 'paused' } })
    land(await built('DELETE', 'pause', { payer }), authority)
    land(await built('POST', 'burns', { payer, amount: '1' }), authority)
    expect(held(authority)).toBe(9n)
  })

  it('is closed once all of it is burned, and its rent returns', async () => {
    const { built, refused, land, authority, funded, chain, token, mint, request } = await opened(program, [CLOSABLE])
    const payer = addressOf(authority)
    give(chain, authority, token, authority.publicKey, 10n)
    const early = await refused('DELETE', '', { payer })
    expect([early.param, early.details]).toEqual(['mint', { reason: 'supply', supply: '10' }])
    expect(early.message).toContain('once all of it is burned')
    land(await built('POST', 'burns', { payer, amount: '10' }), authority)
    expect((await refused('DELETE', '', { payer: addressOf(funded()) })).details).toEqual({ authority: payer })
    const closed = await built('DELETE', '', { payer })
    const before = chain.account(payer)!.lamports
    land(closed, authority)
    expect(chain.account(payer)!.lamports - before).toBe(BigInt(closed.lamports) - 5_000n)
    expect(chain.account(mint)).toBeNull()
    expect((await request('GET', `/v2/tokens/${mint}`)).status).toBe(404)
    expect((await refused('DELETE', '', { payer })).code).toBe('not_found')
  })

  it('is paused, resumed and closed by the platform wallet if its policy names these powers', async () => {
    const { ask, built, request, key, wallet, setAuthority, chain, mint } = await opened(program, [PAUSABLE, CLOSABLE])
    setAuthority(spl.AuthorityType.PausableConfig, wallet.publicKey)
    setAuthority(spl.AuthorityType.CloseMint, wallet.publicKey)
    const body = { payer: addressOf(wallet), mode: 'signed' }
    // A key of a server that claims fees gets no further than its scope, and one with every scope no further than the policy.
    const claimer = await key({ scopes: ['fees:claim', 'airdrop:admin'] })
    for (const path of ['/pause', '']) {
      const method = path === '' ? 'DELETE' : 'PUT'
      const { status, json } = await request(method, `/v2/tokens/${mint}${path}`, { body, key: claimer })
      expect([status, json.error.code]).toEqual([403, 'forbidden'])
      const { error } = await ask(method, path.slice(1), body)
      expect([error.code, error.details.rule]).toEqual(['bad_request', 'power'])
      expect(error.message).toContain(`svc signer policy --powers ${path === '' ? 'close' : 'pause'}`)
    }
    expect(chain.account(mint)).not.toBeNull()
    const allow = (powers: string[]) => request('PATCH', '/v2/signer/policy', { body: { powers } })
    expect((await allow(['pause', 'pause'])).json.error.param).toBe('powers.1')
    expect((await allow(['mint'])).json.error.param).toBe('powers.0')
    expect((await allow(['pause'])).json.data.policy.powers).toEqual(['pause'])
    const acts = [
      ['PUT', 'pause', ['pause']],
      ['DELETE', 'pause', []],
      ['DELETE', '', ['close']],
    ] as const
    for (const [method, path, powers] of acts) {
      await allow([...powers])
      expect(await built(method, path, body)).toMatchObject({ mode: 'signed', mint, authority: addressOf(wallet) })
      chain.advance(1)
    }
    expect(chain.account(mint)).toBeNull()
    await allow([])
  })
})

describe('a freeze by the platform wallet', () => {
  it('can wait for approvals, and names the wallets to those who approve', async () => {
    const service = await startPlatform()
    const chain = await service.services.chain.local()
    await approversOf(service, 1, { ...NOTHING_WAITS, operations: ['token.freeze'] }, { people: 1, expires_in: 3600 })
    const token = createMint(chain, service.wallet)
    const holder = Keypair.generate().publicKey
    const account = give(chain, service.wallet, token, holder, 5n)
    const { status, json } = await service.request('POST', `/v2/tokens/${token.mint.toBase58()}/freezes`, {
      body: { payer: addressOf(service.wallet), wallet: holder.toBase58(), mode: 'signed' },
    })
    expect(status).toBe(202)
    expect(json.data.proposal).toMatchObject({ operation: 'token.freeze', status: 'active' })
    expect(json.data.proposal.what).toContain(
      `Freeze accounts of a token (${token.mint.toBase58()} of ${holder.toBase58()})`,
    )
    expect(chain.account(account.toBase58())!.data[108]).toBe(1)
  })

  it('waits without being named if every use of a power does, and is executed with the approval', async () => {
    const service = await startPlatform()
    const chain = await service.services.chain.local()
    const [ada] = await approversOf(service, 1, { power: true })
    const token = createMint(chain, service.wallet)
    const mint = token.mint.toBase58()
    const holder = Keypair.generate().publicKey
    const account = give(chain, service.wallet, token, holder, 5n).toBase58()
    const { status, json } = await service.request('POST', `/v2/tokens/${mint}/freezes`, {
      body: { payer: addressOf(service.wallet), wallet: holder.toBase58(), mode: 'signed' },
    })
    const { proposal } = json.data
    const what = `the token account ${account} of ${holder.toBase58()} would be frozen`
    expect([status, proposal.approver.rules]).toEqual([202, ['power']])
    expect(proposal.approver.movement.powers).toEqual([{ mint, power: 'freeze', account, what }])
    expect(proposal.what).toContain(what)
    expect(chain.account(account)!.data[108]).toBe(1)
    expect((await decide(service, proposal, ada!)).json.data.proposal.status).toBe('executed')
    chain.advance(1)
    expect(chain.account(account)!.data[108]).toBe(2)
    expect((await service.request('GET', '/v2/audit-verification')).json.data).toMatchObject({ intact: true })
  })
})

describe('the sentence about an act that a multisig approves', () => {
  it('has its amount in whole tokens, and in raw units if the mint is not a token', async () => {
    const { services, wallet } = await shared()
    const mint = createMint(await services.chain.local(), wallet).mint.toBase58()
    const say = (route: AnyRoute, input: object) => actWords(services, { route, input: { mint, ...input } })
    const recipients = [{ amount: '1500000000000' }, { amount: '2' }]
    expect(await say(api.tokens.mint, { recipients })).toBe(`Mint 1,500.000000002 (2 wallets) of the token ${mint}`)
    expect(await say(api.tokens.burn, { amount: '5' })).toBe(`Burn 0.000000005 of the token ${mint}`)
    const lock = { amount: '2500000000', recipient: 'Ada' }
    expect(await say(api.locks.create, lock)).toBe(`Lock 2.5 of the token ${mint} for Ada`)
    const none = Keypair.generate().publicKey.toBase58()
    expect(await say(api.locks.create, { ...lock, mint: none })).toContain('Lock 2,500,000,000 raw units of the token')
  })
})

describe('wrapped SOL', () => {
  it('is not burned, because its owner unwraps it', async () => {
    const { request, wallet } = await shared()
    const path = `/v2/tokens/${spl.NATIVE_MINT.toBase58()}/burns`
    const { json } = await request('POST', path, { body: { payer: addressOf(wallet), amount: '1' } })
    expect([json.error.param, json.error.message]).toEqual(['mint', expect.stringContaining('wrapped SOL')])
  })
})
