/** Whoever is given something, or made an authority: token accounts, mints, programs and keys of nobody are refused. */
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { createApp } from '../daemon/app.ts'
import { readAccountKinds } from '../src/chain/reads/account-kinds.ts'
import { recipientFaults, refuseRecipients } from '../src/operations/recipients.ts'
import { PROGRAMS } from '../src/solana/programs.ts'
import { vaultAddress } from '../src/solana/squads/index.ts'
import { addressOf, airdropsOn, createBody, lacksDistributor } from './support/airdrops.ts'
import { requester } from './support/request.ts'
import { sharedService, startService } from './support/service.ts'

const SYSTEM = '11111111111111111111111111111111'
const INCINERATOR = '1nc1nerator11111111111111111111111111111111'
const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const CLOCK = 'SysvarC1ock11111111111111111111111111111111'

const shared = sharedService()

async function opened() {
  const all = await airdropsOn(await shared())
  const payer = all.wallet()
  const mint = all.mintFor(payer, 1_000n)
  const tokenAccount = spl.getAssociatedTokenAddressSync(new PublicKey(mint), payer.publicKey).toBase58()
  const [vault] = PublicKey.findProgramAddressSync([Buffer.from('vault')], new PublicKey(TOKEN))
  /** Every kind of address that is not a wallet, with its reason. */
  const strangers: [string, string][] = [
    [tokenAccount, 'token_account'],
    [mint, 'token_account'],
    [vault.toBase58(), 'off_curve'],
    [TOKEN, 'program_owned'],
    [SYSTEM, 'program_owned'],
    [INCINERATOR, 'program_owned'],
    [CLOCK, 'program_owned'],
  ]
  return { ...all, payer, mint, tokenAccount, vault: vault.toBase58(), strangers }
}

describe.skipIf(lacksDistributor)('a stored list of recipients', () => {
  it('goes on chain if all are wallets; a refusal names the first others and their number', async () => {
    const { payer, mint, strangers, storeTree, refused, ok } = await opened()
    const wallets = [addressOf(Keypair.generate()), ...strangers.map(([wallet]) => wallet)]
    const entries = wallets.map((wallet, i) => ({ wallet, amount: String(i + 1) }))
    const tree = await storeTree(mint, entries)
    // Storing does not ask the chain, so a mint with a key of its own is no fault to it.
    expect(tree.warnings).toEqual([
      expect.stringMatching(/^6 of 8 addresses are not wallets, .* entries\.1 .*off_curve/),
    ])
    const error = await refused('POST', '/v2/airdrops', createBody(payer, mint, tree.root))
    expect(error).toMatchObject({ status: 400, param: 'entries.1.wallet', details: { count: 7 } })
    expect(error.message).toContain(`entries.1.wallet: ${wallets[1]} is a mint or a token account, not a wallet`)
    expect(error.message).toContain('7 of 8 are not wallets')
    expect(error.details.recipients.map(({ reason }: { reason: string }) => reason)).toEqual(
      strangers.map(([, reason]) => reason),
    )
    await ok('POST', '/v2/airdrops', createBody(payer, mint, tree.root, { allow_programs: true }))
  })

  it('is checked once in ten minutes, however often its airdrop is built, and at once after a fault of the node', async () => {
    const { payer, mint, storeTree, services, clock, operator } = await opened()
    const tree = await storeTree(mint, [{ wallet: addressOf(Keypair.generate()), amount: '5' }])
    const node = services.chain
    let [calls, isDown] = [0, true]
    const call = async <T>(method: string, params: readonly unknown[]): Promise<T> => {
      const isRead = JSON.stringify(params).includes('"dataSlice"')
      if (isRead) calls++
      if (isRead && isDown) throw new Error('it is down')
      return node.call<T>(method, params)
    }
    const service = { ...services, chain: { ...node, call } }
    const { fetch } = await createApp(service)
    const create = requester('http://svc.test', async (request) => fetch(request), operator)
    const body = createBody(payer, mint, tree.root)
    const build = async () => (await create('POST', '/v2/airdrops', { body })).status
    expect([await build(), calls]).toEqual([500, 1])
    isDown = false
    expect(await Promise.all([build(), build(), build()])).toEqual([200, 200, 200])
    expect(calls).toBe(2)
    clock.advance(9 * 60_000)
    expect([await build(), calls]).toEqual([200, 2])
    clock.advance(60_000)
    expect([await build(), calls]).toEqual([200, 3])
  })

  it('of wallets alone has no warning, and is refused once one of them has become a token account', async () => {
    const { payer, mint, storeTree, refused, run, authority, chain } = await opened()
    const account = Keypair.generate()
    const { SystemProgram } = await import('@solana/web3.js')
    run(
      [
        SystemProgram.createAccount({
          fromPubkey: authority.publicKey,
          newAccountPubkey: account.publicKey,
          space: spl.ACCOUNT_SIZE,
          lamports: Number(chain.minimumBalance(spl.ACCOUNT_SIZE)),
          programId: spl.TOKEN_PROGRAM_ID,
        }),
        spl.createInitializeAccount3Instruction(account.publicKey, new PublicKey(mint), payer.publicKey),
      ],
      [authority, account],
    )
    const tree = await storeTree(mint, [
      { wallet: addressOf(Keypair.generate()), amount: '1' },
      { wallet: addressOf(account), amount: '2' },
    ])
    expect(tree.warnings).toBeUndefined()
    const error = await refused('POST', '/v2/airdrops', createBody(payer, mint, tree.root))
    expect(error).toMatchObject({ param: 'entries.1.wallet', details: { reason: 'token_account', count: 1 } })
  })
})

describe('an address that is not a wallet', () => {
  /** Requests that give something to an address, with the field that names it. */
  const verbs: [string, string, (payer: string, wallet: string) => object][] = [
    [
      '/v2/nfts',
      'owner',
      (payer, owner) => ({
        payer,
        owner,
        platform_id: 'acme',
        collection: payer,
        name: 'A',
        uri: 'https://arweave.net/1',
      }),
    ],
    [
      '/v2/collections',
      'update_authority',
      (payer, update_authority) => ({ payer, update_authority, name: 'A', uri: 'https://arweave.net/1' }),
    ],
    [
      '/v2/fee-schedules',
      'splits.1.recipient',
      (payer, recipient) => ({
        cron: '@daily',
        splits: [
          { recipient: payer, bps: 5_000 },
          { recipient, bps: 5_000 },
        ],
      }),
    ],
    ['/v2/sol-transfers', 'recipient', (payer, recipient) => ({ payer, recipient, lamports: '10000000' })],
  ]

  it.each(verbs)(
    'is refused by POST %s, and so are the token account and the mint that allow_programs names',
    async (path, param, body) => {
      const { payer, strangers, refused, request, vault } = await opened()
      for (const [wallet, reason] of strangers) {
        const error = await refused('POST', path, body(addressOf(payer), wallet))
        expect([error.status, error.param, error.details?.reason], wallet).toEqual([400, param, reason])
        if (reason !== 'token_account') continue
        const allowed = await refused('POST', path, { ...body(addressOf(payer), wallet), allow_programs: true })
        expect([allowed.param, allowed.details?.reason], wallet).toEqual([param, reason])
      }
      const meant = await request('POST', path, { body: { ...body(addressOf(payer), vault), allow_programs: true } })
      expect(meant.json.error?.param ?? null, meant.json.error?.message).not.toBe(param)
    },
  )

  it('is refused in a change of a schedule, and allow_programs applies only to the splits that it came with', async () => {
    const { payer, vault, ok, refused } = await opened()
    const of = (recipient: string) => [
      { recipient: addressOf(payer), bps: 5_000 },
      { recipient, bps: 5_000 },
    ]
    const { id } = await ok('POST', '/v2/fee-schedules', { cron: '@daily', splits: of(vault), allow_programs: true })
    const path = `/v2/fee-schedules/${id}`
    expect(await ok('PATCH', path, { cron: '@hourly' })).toMatchObject({ allow_programs: true, splits: of(vault) })
    expect(await refused('PATCH', path, { splits: of(vault) })).toMatchObject({ param: 'splits.1.recipient' })
    expect(await refused('PATCH', path, { allow_programs: false })).toMatchObject({ param: 'splits.1.recipient' })
    expect(await ok('PATCH', path, { splits: null })).toMatchObject({ allow_programs: false, splits: null })
  })
})

describe.skipIf(lacksDistributor)('an airdrop for programs too', () => {
  it('is refused if its list names the account of a multisig instead of its vault', async () => {
    const { payer, mint, storeTree, refused, services } = await opened()
    const multisig = Keypair.generate().publicKey.toBase58()
    const data = Buffer.concat([Buffer.from('e07479ba44a14fec', 'hex'), Buffer.alloc(100)])
    const chain = await services.chain.local()
    chain.setAccount(multisig, { lamports: 10_000_000n, owner: PROGRAMS.squads.id, data, executable: false })
    const tree = await storeTree(mint, [{ wallet: multisig, amount: '5' }])
    const body = createBody(payer, mint, tree.root, { allow_programs: true })
    const { param, message } = await refused('POST', '/v2/airdrops', body)
    expect([param, message]).toEqual(['entries.0.wallet', expect.stringContaining(vaultAddress(multisig, 0))])
  })
})

it('an account of Squads is refused whatever is allowed, and a multisig with the address of its vault', async () => {
  const { services } = await shared()
  const chain = await services.chain.local()
  const put = (start: string) => {
    const address = Keypair.generate().publicKey.toBase58()
    const data = Buffer.concat([Buffer.from(start, 'hex'), Buffer.alloc(100)])
    chain.setAccount(address, { lamports: 10_000_000n, owner: PROGRAMS.squads.id, data, executable: false })
    return address
  }
  const [multisig, proposal] = [put('e07479ba44a14fec'), put('1a5ebdbb74883521')] as const
  for (const allowsPrograms of [false, true]) {
    const recipients = [multisig, proposal].map((wallet) => ({ param: 'recipient', wallet }))
    const faults = await recipientFaults(services, recipients, { allowsPrograms })
    expect(faults.map(({ reason }) => reason)).toEqual(['multisig', 'squads_account'])
    const refusal = () => refuseRecipients(faults, 2)
    expect(refusal).toThrow(`its first vault (number 0) is ${vaultAddress(multisig, 0)}`)
    expect(() => refuseRecipients(faults.slice(1), 1)).toThrow('is an account of Squads, such as a proposal')
  }
})

it('5,000 wallets are read in 50 calls of a hundred, eight at a time', async () => {
  const { services } = await startService()
  const local = await services.chain.local()
  const wallets = Array.from({ length: 50 }, () => addressOf(Keypair.generate()))
  local.airdrop(wallets[0]!, 1_000_000_000n)
  let [calls, underWay, most] = [0, 0, 0]
  const chain = {
    async call<T>(method: string, params: readonly unknown[]): Promise<T> {
      calls++
      most = Math.max(most, ++underWay)
      try {
        return await services.chain.call<T>(method, params)
      } finally {
        underWay--
      }
    },
  }
  const recipients = Array.from({ length: 5_000 }, (_, i) => ({
    param: `entries.${i}.wallet`,
    wallet: wallets[i % 50]!,
  }))
  recipients[4_999] = { param: 'entries.4999.wallet', wallet: INCINERATOR }
  const faults = await recipientFaults({ chain } as never, recipients, { allowsPrograms: false })
  expect(faults).toEqual([{ param: 'entries.4999.wallet', wallet: INCINERATOR, reason: 'program_owned' }])
  expect([calls, most]).toEqual([50, 8])
  const kinds: unknown[] = []
  await readAccountKinds(chain, [wallets[0]!, wallets[1]!], { commitment: 'confirmed' }, (kind) => kinds.push(kind))
  expect(kinds).toEqual([{ owner: SYSTEM, executable: false, start: '' }, null])
})
