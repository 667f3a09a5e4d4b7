/** Attempts to drain the platform wallet, run for real: each is refused by its own rule, everything else allowed. */
import { createHash } from 'node:crypto'
import {
  addCollectionPlugin,
  addPlugin,
  create,
  createCollection,
  mplCore,
  transferV1,
} from '@metaplex-foundation/mpl-core'
import { createNoopSigner, publicKey, signerIdentity } from '@metaplex-foundation/umi'
import { createUmi } from '@metaplex-foundation/umi-bundle-defaults'
import * as dbc from '@meteora-ag/dynamic-bonding-curve-sdk'
import * as spl from '@solana/spl-token'
import {
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  Keypair,
  NONCE_ACCOUNT_LENGTH,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { delegations } from '../../src/policy/movement/control-changes.ts'
import { touchedAccounts } from '../../src/policy/movement/touched-accounts.ts'
import { DEFAULT_PROGRAMS } from '../../src/policy/policy.ts'
import { checkPolicy } from '../../src/policy/rules/check-policy.ts'
import { LOOKUP_TABLE_PROGRAM } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { launchCurve } from '../support/curve.ts'
import { u64 } from '../support/little-endian.ts'
import { web3Over } from '../support/node.ts'
import { hasProgram } from '../support/programs.ts'
import { TOKEN_ACCOUNT_RENT } from '../support/rent.ts'
import {
  ata,
  createAta,
  GENEROUS,
  NOTHING_SPENT,
  openScene,
  type Scene,
  SOL,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
  text,
  wrap,
} from './movements-support.ts'

const someone = () => Keypair.generate().publicKey
const { AuthorityType } = spl
const discriminator = (name: string) => createHash('sha256').update(`global:${name}`).digest().subarray(0, 8)
/** Account metas from short marks: `w` writable, `s` signer. */
const meta = (pubkey: PublicKey, marks = '') => ({
  pubkey,
  isSigner: marks.includes('s'),
  isWritable: marks.includes('w'),
})
const RENT = TOKEN_ACCOUNT_RENT
const FEE = 5_000n

describe('control over a position of DAMM v2', () => {
  const CLAIM_TO_OWNER = 16
  const positionOf = (nft: PublicKey, permissions: number) => {
    const data = Buffer.alloc(408)
    Buffer.from('aabc8fe47a40f7d0', 'hex').copy(data)
    nft.toBuffer().copy(data, 40)
    data.writeUInt32LE(permissions, 392)
    return { lamports: 3_000_000n, owner: PROGRAMS.dammV2.id, data, executable: false }
  }

  it('can be given to a delegate that may only claim for the owner, and to no other', async () => {
    const scene = await openScene()
    const { mint: nft, held } = scene.mint(TOKEN_2022_PROGRAM_ID, 1n)
    const position = Keypair.generate().publicKey
    const [hot, other] = [someone(), someone()]
    const permit = (permissions: number, of = nft) =>
      scene.local.setAccount(text(position), positionOf(of, permissions))
    const approve = (delegate: PublicKey, amount = 0) =>
      spl.createApproveInstruction(held, delegate, scene.key, amount, [], TOKEN_2022_PROGRAM_ID)
    /** Names the position among the accounts that are written to. */
    const update = scene.pay(scene.key, 0n)
    update.keys.push(meta(position, 'w'))
    permit(CLAIM_TO_OWNER)
    expect(await scene.ruleFor([approve(hot), update])).toBeNull()
    expect(await scene.ruleFor([approve(hot)])).toBe('delegate')
    expect(await scene.ruleFor([approve(hot, 1), update])).toBe('delegate')
    for (const bit of [0, 1, 2, 3, 5, 6, 7, 8, 31]) {
      permit((CLAIM_TO_OWNER | (1 << bit)) >>> 0)
      expect(await scene.ruleFor([approve(hot), update]), `bit ${bit}`).toBe('delegate')
    }
    permit(CLAIM_TO_OWNER, someone())
    expect(await scene.ruleFor([approve(hot), update])).toBe('delegate')
    permit(CLAIM_TO_OWNER)
    scene.local.setAccount(text(position), { ...positionOf(nft, CLAIM_TO_OWNER), owner: text(other) })
    expect(await scene.ruleFor([approve(hot), update])).toBe('delegate')
  })

  it('cannot be widened for a delegate that is there', () => {
    const [wallet, nft] = [text(someone()), someone()]
    const address = text(someone())
    const widened = (before: number, after: number) => {
      const touched = touchedAccounts(wallet, [address], [positionOf(nft, before)], [positionOf(nft, after)], new Map())
      return delegations(wallet, touched)
    }
    const more = [{ address, kind: 'position', delegate: null, amount: null }]
    expect(widened(0, CLAIM_TO_OWNER)).toEqual([])
    expect(widened(255, CLAIM_TO_OWNER)).toEqual([])
    expect(widened(255, 0)).toEqual([])
    expect(widened(CLAIM_TO_OWNER, 8 | CLAIM_TO_OWNER)).toEqual(more)
    expect(widened(1, 2)).toEqual(more)
    expect(widened(0, 2 ** 31)).toEqual(more)
  })
})

describe.each([
  ['SPL Token', TOKEN_PROGRAM_ID],
  ['Token-2022', TOKEN_2022_PROGRAM_ID],
])('control over accounts of %s', (_, program) => {
  it('cannot be given to a delegate', async () => {
    const scene = await openScene()
    const { mint, held } = scene.mint(program)
    const thief = someone()
    const approve = spl.createApproveInstruction(held, thief, scene.key, 1, [], program)
    const checked = spl.createApproveCheckedInstruction(held, mint, thief, scene.key, 1, 6, [], program)
    const more = spl.createApproveInstruction(held, thief, scene.key, 2, [], program)
    const revoke = spl.createRevokeInstruction(held, scene.key, [], program)
    expect(await scene.ruleFor([approve])).toBe('delegate')
    expect(await scene.ruleFor([checked])).toBe('delegate')
    expect(await scene.ruleFor([approve, revoke])).toBeNull()
    // One who is there already gets no more, and can be let go.
    scene.send([approve])
    expect(await scene.ruleFor([more])).toBe('delegate')
    expect(await scene.ruleFor([revoke])).toBeNull()
  })

  it('cannot pass to another owner or closer', async () => {
    const scene = await openScene()
    const account = Keypair.generate()
    const { mint } = scene.mint(program)
    const thief = someone()
    // Token-2022's associated accounts keep their owner: this one is at an address of its own.
    scene.send(
      [
        SystemProgram.createAccount({
          fromPubkey: scene.key,
          newAccountPubkey: account.publicKey,
          space: spl.ACCOUNT_SIZE,
          lamports: Number(RENT),
          programId: program,
        }),
        spl.createInitializeAccount3Instruction(account.publicKey, mint, scene.key, program),
      ],
      [scene.wallet, account],
    )
    const give = (type: spl.AuthorityType) =>
      spl.createSetAuthorityInstruction(account.publicKey, scene.key, type, thief, [], program)
    expect(await scene.ruleFor([give(AuthorityType.AccountOwner)])).toBe('authority')
    expect(await scene.ruleFor([give(AuthorityType.CloseAccount)])).toBe('authority')
  })

  it("over a mint's authorities can be neither given away nor given up", async () => {
    const scene = await openScene()
    const { mint } = scene.mint(program)
    for (const type of [AuthorityType.MintTokens, AuthorityType.FreezeAccount]) {
      for (const to of [someone(), null]) {
        const give = spl.createSetAuthorityInstruction(mint, scene.key, type, to, [], program)
        expect(await scene.ruleFor([give])).toBe('authority')
      }
    }
  })

  it('allows closing only to the wallet', async () => {
    const scene = await openScene()
    const { held } = scene.mint(program, 0n)
    const close = (to: PublicKey) => spl.createCloseAccountInstruction(held, to, scene.key, [], program)
    expect(await scene.ruleFor([close(scene.stranger.publicKey)])).toBe('close')
    expect(await scene.ruleFor([close(scene.key)])).toBeNull()
  })

  it('lets tokens leave within the limit of their mint, and in no other way', async () => {
    const scene = await openScene()
    const { mint, held } = scene.mint(program)
    const to = scene.accountOf(scene.stranger, mint, program)
    const send = (amount: number) => spl.createTransferInstruction(held, to, scene.key, amount, [], program)
    const tokens = (per_transaction: bigint) => [{ mint: text(mint), per_transaction, per_day: 2n ** 64n }]
    expect(await scene.ruleFor([send(100)], { policy: { tokens: [] } })).toBe('tokens_per_transaction')
    expect(await scene.ruleFor([send(100)], { policy: { tokens: tokens(99n) } })).toBe('tokens_per_transaction')
    expect(await scene.ruleFor([send(50), send(50)], { policy: { tokens: tokens(99n) } })).toBe(
      'tokens_per_transaction',
    )
    expect(await scene.ruleFor([send(50), send(50)], { policy: { tokens: tokens(100n) } })).toBeNull()
    const burn = spl.createBurnInstruction(held, mint, scene.key, 100, [], program)
    expect(await scene.ruleFor([burn], { policy: { tokens: tokens(99n) } })).toBe('tokens_per_transaction')
    // The wallet's authority over the mint makes new ones for a stranger.
    const print = spl.createMintToInstruction(mint, to, scene.key, 100, [], program)
    expect(await scene.ruleFor([print], { policy: { tokens: tokens(99n) } })).toBe('tokens_per_transaction')
  })
})

describe('lamports of the platform wallet', () => {
  const cap = { lamports_per_transaction: 2n * SOL }

  it('leave within their limit, however many transfers they take', async () => {
    const scene = await openScene()
    const [a, b] = [someone(), someone()]
    expect(await scene.ruleFor([scene.pay(a, 2n * SOL)], { policy: cap })).toBe('lamports_per_transaction')
    expect(await scene.ruleFor([scene.pay(a, 2n * SOL - FEE)], { policy: cap })).toBeNull()
    const split = [scene.pay(a, SOL), scene.pay(b, SOL)]
    expect(await scene.ruleFor(split, { policy: cap })).toBe('lamports_per_transaction')
    expect(await scene.ruleFor([scene.pay(a, SOL)], { policy: { lamports_per_day: SOL } })).toBe('lamports_per_day')
  })

  it('are counted where a program moves them', async () => {
    const scene = await openScene()
    const { mint } = scene.mint(TOKEN_PROGRAM_ID, 0n)
    const accounts = [someone(), someone(), someone()].map((owner) => createAta(scene.key, mint, owner))
    const told = (lamports_per_transaction: bigint) => ({ policy: { lamports_per_transaction } })
    expect(await scene.ruleFor(accounts, told(3n * RENT + FEE - 1n))).toBe('lamports_per_transaction')
    expect(await scene.ruleFor(accounts, told(3n * RENT + FEE))).toBeNull()
  })

  it('are counted in an account that a stranger’s program receives', async () => {
    const scene = await openScene()
    const account = Keypair.generate()
    const create = SystemProgram.createAccount({
      fromPubkey: scene.key,
      newAccountPubkey: account.publicKey,
      space: 0,
      lamports: Number(5n * SOL),
      programId: someone(),
    })
    const cosigners = [text(account.publicKey)]
    expect(await scene.ruleFor([create], { policy: cap, cosigners })).toBe('lamports_per_transaction')
    const listed = { destinations: [scene.address] }
    expect(await scene.ruleFor([create], { policy: listed, cosigners })).toBe('destination')
    // Nor is an allowed program a purse: what is above its rent is a gain.
    const purse = SystemProgram.createAccount({
      fromPubkey: scene.key,
      newAccountPubkey: account.publicKey,
      space: 0,
      lamports: Number(5n * SOL),
      programId: new PublicKey(PROGRAMS.core.id),
    })
    expect(await scene.ruleFor([purse], { policy: listed, cosigners })).toBe('destination')
  })

  it('cannot leave by wrapping, nor by closing wrapped SOL to a stranger', async () => {
    const scene = await openScene()
    const held = scene.wrapped(5n * SOL)
    const to = scene.accountOf(scene.stranger, spl.NATIVE_MINT)
    const send = spl.createTransferInstruction(held, to, scene.key, 3n * SOL)
    expect(await scene.ruleFor([send], { policy: cap })).toBe('lamports_per_transaction')
    const close = spl.createCloseAccountInstruction(held, scene.stranger.publicKey, scene.key)
    expect(await scene.ruleFor([close])).toBe('close')
  })

  it('that are wrapped on the way are counted, and stop at a destination', async () => {
    const scene = await openScene()
    const thief = scene.stranger.publicKey
    const close = spl.createCloseAccountInstruction(ata(spl.NATIVE_MINT, scene.key), thief, scene.key)
    const instructions = [...wrap(scene.key, 3n * SOL), close]
    expect(await scene.ruleFor(instructions, { policy: cap })).toBe('lamports_per_transaction')
    expect(await scene.ruleFor(instructions, { policy: { destinations: [scene.address] } })).toBe('destination')
  })

  it('that somebody lends for the simulation change nothing', async () => {
    const scene = await openScene()
    const { stranger } = scene
    const lend = SystemProgram.transfer({ fromPubkey: stranger.publicKey, toPubkey: scene.key, lamports: 9n * SOL })
    const cosigners = [text(stranger.publicKey)]
    const round = [lend, scene.pay(stranger.publicKey, 9n * SOL)]
    expect(await scene.ruleFor(round, { policy: cap, cosigners })).toBe('lamports_per_transaction')
    expect(await scene.ruleFor(round, { role: 'cosigns', payer: stranger })).toBe('lamports_per_transaction')
  })

  it('cannot leave through an account that is derived from the wallet', async () => {
    const scene = await openScene()
    const address = await PublicKey.createWithSeed(scene.key, 'purse', SystemProgram.programId)
    scene.local.airdrop(text(address), 10n * SOL)
    const derived = { basePubkey: scene.key, seed: 'purse', programId: SystemProgram.programId }
    const send = SystemProgram.transfer({
      fromPubkey: address,
      toPubkey: someone(),
      lamports: 5n * SOL,
      ...derived,
    })
    expect(await scene.ruleFor([send], { policy: cap })).toBe('lamports_per_transaction')
    const program = someone()
    const theirs = await PublicKey.createWithSeed(scene.key, 'purse', program)
    scene.local.airdrop(text(theirs), 10n * SOL)
    const given = { basePubkey: scene.key, seed: 'purse', programId: program }
    const hand = SystemProgram.assign({ accountPubkey: theirs, ...given })
    expect(await scene.ruleFor([hand])).toBe('authority')
  })

  it('cannot be burnt as a priority fee', async () => {
    const scene = await openScene()
    // 1,000,000 units at 5,000,000,000 micro-lamports are 5 SOL.
    const priced = [
      ComputeBudgetProgram.setComputeUnitLimit({ units: 1_000_000 }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 5_000_000_000 }),
    ]
    const movement = await scene.read(priced)
    expect(movement.fee).toBe(5n * SOL + FEE)
    expect(await scene.ruleFor(priced)).toBe('fee')
  })
})

describe.each([
  ['SPL Token', TOKEN_PROGRAM_ID],
  ['Token-2022', TOKEN_2022_PROGRAM_ID],
])('excess rent in accounts of %s', (_, program) => {
  const withdraw = (from: PublicKey, to: PublicKey, by: PublicKey) =>
    new TransactionInstruction({
      programId: program,
      keys: [meta(from, 'w'), meta(to, 'w'), meta(by, 's')],
      data: Buffer.from([38]),
    })

  it('returns to the wallet, from its token account and from its mint, for the fee alone', async () => {
    const scene = await openScene()
    const { mint, held } = scene.mint(program)
    for (const address of [mint, held]) scene.local.airdrop(text(address), SOL)
    const instructions = [mint, held].map((from) => withdraw(from, scene.key, scene.key))
    const movement = await scene.read(instructions)
    expect(movement).toMatchObject({ err: null, stable: true, unread: [], lamports_out: FEE, lamports_to_others: 0n })
    expect(movement).toMatchObject({ destinations: [], authority_changes: [], delegates: [], closes: [] })
    const policy = { lamports_per_transaction: FEE, lamports_per_day: FEE, destinations: [] }
    expect(scene.ruleOf(movement, { policy })).toBeNull()
  })

  it.each(['token account', 'mint'] as const)('of its %s counts if a stranger receives it', async (what) => {
    const scene = await openScene()
    const { mint, held } = scene.mint(program)
    const from = what === 'mint' ? mint : held
    scene.local.airdrop(text(from), SOL)
    const { stranger } = scene
    const movement = await scene.read([withdraw(from, stranger.publicKey, scene.key)])
    // The instruction does not state the amount, so everything in the account counts.
    const most = scene.local.account(text(from))!.lamports
    expect(movement).toMatchObject({ err: null, stable: true, lamports_out: most + FEE, lamports_to_others: most })
    const destination = expect.objectContaining({ address: text(stranger.publicKey), amount: most, mint: null })
    expect(movement.destinations).toEqual([destination])
    expect(scene.ruleOf(movement, { policy: { lamports_per_transaction: SOL } })).toBe('lamports_per_transaction')
    expect(scene.ruleOf(movement, { policy: { destinations: [] } })).toBe('destination')
  })

  it('counts as much if the account is closed to the stranger after it', async () => {
    const scene = await openScene()
    const { held } = scene.mint(program, 0n)
    scene.local.airdrop(text(held), SOL)
    const { stranger } = scene
    const movement = await scene.read([
      withdraw(held, stranger.publicKey, scene.key),
      spl.createCloseAccountInstruction(held, stranger.publicKey, scene.key, [], program),
    ])
    expect(movement.lamports_to_others).toBeGreaterThan(SOL)
    expect(scene.ruleOf(movement)).toBe('close')
  })

  it('of a stranger is not a loss of the wallet', async () => {
    const scene = await openScene()
    const { mint } = scene.mint(program)
    const { stranger } = scene
    const theirs = scene.accountOf(stranger, mint, program)
    scene.local.airdrop(text(theirs), SOL)
    const told = { payer: stranger, role: 'cosigns' as const }
    const take = [
      withdraw(theirs, stranger.publicKey, stranger.publicKey),
      spl.createRevokeInstruction(ata(mint, scene.key, program), scene.key, [], program),
    ]
    const movement = await scene.read(take, told)
    expect(movement).toMatchObject({ err: null, stable: true, lamports_out: 0n })
  })
})

describe('a transaction with an unknown effect', () => {
  it('is refused: an unknown instruction of a token program', async () => {
    const scene = await openScene()
    const { held } = scene.mint(TOKEN_2022_PROGRAM_ID)
    const types = [spl.ExtensionType.MemoTransfer]
    const enlarge = spl.createReallocateInstruction(held, scene.key, types, scene.key, [], TOKEN_2022_PROGRAM_ID)
    const { err, unread } = await scene.read([enlarge])
    expect([err, unread[0]?.where]).toEqual([null, 'instruction 0'])
    expect(await scene.ruleFor([enlarge])).toBe('unstable')
  })

  it('is refused: an account with a confidential balance', async () => {
    const scene = await openScene()
    const { mint, held } = scene.mint(TOKEN_2022_PROGRAM_ID)
    const account = scene.local.account(text(held))!
    // A ConfidentialTransferAccount of 295 bytes behind the extensions that are there.
    const extension = Buffer.alloc(4 + 295)
    extension.writeUInt16LE(5)
    extension.writeUInt16LE(295, 2)
    scene.local.setAccount(text(held), { ...account, lamports: SOL, data: Buffer.concat([account.data, extension]) })
    const to = scene.accountOf(scene.stranger, mint, TOKEN_2022_PROGRAM_ID)
    const send = spl.createTransferInstruction(held, to, scene.key, 1, [], TOKEN_2022_PROGRAM_ID)
    expect((await scene.read([send])).unread[0]?.reason).toMatch(/confidential/)
    expect(await scene.ruleFor([send])).toBe('unstable')
  })
})

describe('the platform wallet itself', () => {
  it('cannot be assigned to a program', async () => {
    const scene = await openScene()
    const assign = SystemProgram.assign({ accountPubkey: scene.key, programId: someone() })
    expect(await scene.ruleFor([assign])).toBe('authority')
    const allocate = SystemProgram.allocate({ accountPubkey: scene.key, space: 10 })
    // A payer with data is refused by the runtime itself where it pays again; here it is another who pays.
    expect(await scene.ruleFor([allocate], { payer: scene.stranger, role: 'cosigns' })).toBe('authority')
  })

  it('keeps its nonce accounts and their balance', async () => {
    const scene = await openScene()
    const [nonce, thief] = [Keypair.generate(), someone()]
    const rent = Number(scene.local.minimumBalance(NONCE_ACCOUNT_LENGTH))
    const create = SystemProgram.createNonceAccount({
      fromPubkey: scene.key,
      noncePubkey: nonce.publicKey,
      authorizedPubkey: scene.key,
      lamports: rent + 1_000_000,
    })
    scene.send(create.instructions, [scene.wallet, nonce])
    const own = { noncePubkey: nonce.publicKey, authorizedPubkey: scene.key }
    const authorize = SystemProgram.nonceAuthorize({ ...own, newAuthorizedPubkey: thief })
    expect(await scene.ruleFor([authorize])).toBe('authority')
    scene.local.advance(2)
    const withdraw = (to: PublicKey, lamports: number) =>
      SystemProgram.nonceWithdraw({ ...own, toPubkey: to, lamports })
    expect(await scene.ruleFor([withdraw(scene.stranger.publicKey, rent + 1_000_000)])).toBe('close')
    expect(await scene.ruleFor([withdraw(scene.key, rent + 1_000_000)])).toBeNull()
    const few = [withdraw(scene.stranger.publicKey, 1_000_000)]
    const policy = { lamports_per_transaction: 1_000_000n }
    expect(await scene.ruleFor(few, { policy })).toBe('lamports_per_transaction')
  })

  it('signs nothing that a stranger could keep for later', async () => {
    const scene = await openScene()
    const { stranger } = scene
    const nonce = Keypair.generate()
    const create = SystemProgram.createNonceAccount({
      fromPubkey: stranger.publicKey,
      noncePubkey: nonce.publicKey,
      authorizedPubkey: stranger.publicKey,
      lamports: Number(scene.local.minimumBalance(NONCE_ACCOUNT_LENGTH)),
    })
    scene.send(create.instructions, [stranger, nonce])
    scene.local.advance(2)
    const advance = SystemProgram.nonceAdvance({ noncePubkey: nonce.publicKey, authorizedPubkey: stranger.publicKey })
    expect(await scene.ruleFor([advance], { cosigners: [text(stranger.publicKey)] })).toBe('unstable')
  })
})

describe('the participants of a signed transaction', () => {
  it('are no strangers: none signs beside the wallet, nor pays in its place', async () => {
    const scene = await openScene()
    const { stranger } = scene
    const theirs = SystemProgram.transfer({ fromPubkey: stranger.publicKey, toPubkey: scene.key, lamports: 1 })
    expect(await scene.ruleFor([theirs])).toBe('signers')
    expect(await scene.ruleFor([theirs], { cosigners: [text(stranger.publicKey)] })).toBeNull()
    expect(await scene.ruleFor([scene.pay(scene.key, 1n)], { payer: stranger })).toBe('signers')
  })

  it('need not pay if others pay', async () => {
    const scene = await openScene()
    const { stranger } = scene
    const cosigned = { role: 'cosigns', payer: stranger } as const
    expect(await scene.ruleFor([scene.pay(scene.key, SOL)], cosigned)).toBeNull()
    expect(await scene.ruleFor([scene.pay(someone(), SOL)], cosigned)).toBe('lamports_per_transaction')
    expect(await scene.ruleFor([scene.pay(scene.key, 1n)], { role: 'cosigns' })).toBe('signers')
    const { mint, held } = scene.mint()
    const to = scene.accountOf(stranger, mint)
    const send = spl.createTransferInstruction(held, to, scene.key, 1)
    expect(await scene.ruleFor([send], cosigned)).toBe('program')
  })

  it('are only allowed programs, called by the message or within another', async () => {
    const scene = await openScene()
    const loader = new TransactionInstruction({
      programId: new PublicKey(LOOKUP_TABLE_PROGRAM),
      keys: [],
      data: Buffer.of(),
    })
    const stranger = await scene.read([loader])
    expect(stranger.programs[0]?.program).toBe(LOOKUP_TABLE_PROGRAM)
    // The associated token program calls the token program.
    const { mint } = scene.mint(TOKEN_PROGRAM_ID, 0n)
    const programs = DEFAULT_PROGRAMS.filter((id) => id !== text(TOKEN_PROGRAM_ID))
    const open = createAta(scene.key, mint, scene.stranger.publicKey)
    expect(await scene.ruleFor([open], { policy: { programs } })).toBe('program')
    const movement = await scene.read([open])
    const refusal = checkPolicy(movement, { ...GENEROUS, programs }, NOTHING_SPENT, { role: 'pays' })
    expect(refusal?.details).toMatchObject({ program: text(TOKEN_PROGRAM_ID), where: 'instruction 0, inner 0' })
    const memo = new TransactionInstruction({
      programId: new PublicKey('Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo'),
      keys: [],
      data: Buffer.from('a'),
    })
    expect(await scene.ruleFor([memo])).toBe('program')
  })

  it('are refused with a run that fails', async () => {
    const scene = await openScene()
    expect(await scene.ruleFor([scene.pay(someone(), 500n * SOL)])).toBe('simulation')
  })
})

describe('a list of destinations', () => {
  it('lets lamports and tokens go to those on it, by wallet', async () => {
    const scene = await openScene()
    const { mint, held } = scene.mint()
    const friend = scene.funded(SOL)
    const theirs = scene.accountOf(scene.stranger, mint)
    const policy = { destinations: [text(friend.publicKey)] }
    const account = ata(mint, friend.publicKey)
    const send = (to: PublicKey) => spl.createTransferInstruction(held, to, scene.key, 1)
    expect(await scene.ruleFor([scene.pay(friend.publicKey, SOL)], { policy })).toBeNull()
    expect(await scene.ruleFor([createAta(scene.key, mint, friend.publicKey), send(account)], { policy })).toBeNull()
    expect(await scene.ruleFor([scene.pay(scene.stranger.publicKey, SOL)], { policy })).toBe('destination')
    expect(await scene.ruleFor([send(theirs)], { policy })).toBe('destination')
    expect(await scene.ruleFor([createAta(scene.key, mint, someone())], { policy })).toBe('destination')
    expect(await scene.ruleFor([send(theirs)], { policy: { destinations: [text(theirs)] } })).toBeNull()
  })

  it('does not accept an account as its owner’s if another wallet can close it', async () => {
    const scene = await openScene()
    const { stranger } = scene
    const { mint } = scene.mint()
    const friend = someone()
    const trap = scene.accountOf(stranger, mint)
    const hand = (type: spl.AuthorityType, to: PublicKey) =>
      spl.createSetAuthorityInstruction(trap, stranger.publicKey, type, to)
    scene.send(
      [hand(AuthorityType.CloseAccount, stranger.publicKey), hand(AuthorityType.AccountOwner, friend)],
      [stranger],
    )
    const policy = { destinations: [text(friend)] }
    expect(await scene.ruleFor([scene.pay(trap, SOL)], { policy })).toBe('destination')
  })

  it('applies to the wallet’s own account if another wallet can close it', async () => {
    const scene = await openScene()
    const { stranger } = scene
    const { mint } = scene.mint()
    const trap = scene.accountOf(stranger, mint)
    const hand = (type: spl.AuthorityType, to: PublicKey) =>
      spl.createSetAuthorityInstruction(trap, stranger.publicKey, type, to)
    scene.send(
      [hand(AuthorityType.CloseAccount, stranger.publicKey), hand(AuthorityType.AccountOwner, scene.key)],
      [stranger],
    )
    expect(await scene.ruleFor([scene.pay(trap, SOL)], { policy: { destinations: [] } })).toBe('destination')
    expect(await scene.ruleFor([scene.pay(trap, SOL)], { policy: { lamports_per_transaction: FEE } })).toBe(
      'lamports_per_transaction',
    )
  })

  it('sees accounts that come from a lookup table', async () => {
    const scene = await openScene()
    const [table, to] = [someone(), scene.stranger.publicKey]
    const meta = Buffer.alloc(56)
    meta.writeUInt32LE(1)
    meta.writeBigUInt64LE(2n ** 64n - 1n, 4)
    const data = Buffer.concat([meta, to.toBuffer()])
    scene.local.setAccount(text(table), { lamports: SOL, owner: LOOKUP_TABLE_PROGRAM, data, executable: false })
    const state = {
      deactivationSlot: 2n ** 64n - 1n,
      lastExtendedSlot: 0,
      lastExtendedSlotStartIndex: 0,
      addresses: [to],
    }
    const tables = [new AddressLookupTableAccount({ key: table, state })]
    const movement = await scene.read([scene.pay(to, SOL)], { tables })
    expect(movement.destinations).toMatchObject([{ address: text(to), amount: SOL }])
    const told = { tables, policy: { destinations: [scene.address] } }
    expect(await scene.ruleFor([scene.pay(to, SOL)], told)).toBe('destination')
  })
})

const without = (...names: (keyof typeof PROGRAMS)[]) => it.skipIf(names.some((name) => !hasProgram(PROGRAMS[name].id)))

/** Instructions of Metaplex Core by which the wallet acts. */
function coreOf(scene: Scene) {
  const signer = (key: PublicKey) => createNoopSigner(publicKey(text(key)))
  const umi = createUmi('http://embedded.test')
    .use(mplCore())
    .use(signerIdentity(signer(scene.key)))
  const built = (builder: { getInstructions(): ReturnType<ReturnType<typeof transferV1>['getInstructions']> }) =>
    builder.getInstructions().map(
      ({ programId, keys, data }) =>
        new TransactionInstruction({
          programId: new PublicKey(programId),
          keys: keys.map((key) => ({ ...key, pubkey: new PublicKey(key.pubkey) })),
          data: Buffer.from(data),
        }),
    )
  return { umi, signer, built }
}

describe('the policy check with public programs', () => {
  without('core')('an asset of Metaplex Core is neither delegated nor given away', async () => {
    const scene = await openScene({ programs: true })
    const { umi, signer, built } = coreOf(scene)
    const asset = Keypair.generate()
    const name = { name: 'Genesis', uri: 'https://example.com/a.json' }
    const minting = built(create(umi, { asset: signer(asset.publicKey), ...name }))
    const told = { cosigners: [text(asset.publicKey)], policy: { destinations: [scene.address] } }
    // The rent of an account of an allowed program is nobody's gain.
    expect(await scene.ruleFor(minting, told)).toBeNull()
    scene.send(minting, [scene.wallet, asset])
    const thief = publicKey(text(someone()))
    const id = publicKey(text(asset.publicKey))
    const authority = { type: 'Address', address: thief } as const
    const plugin = built(addPlugin(umi, { asset: id, plugin: { type: 'TransferDelegate', authority } }))
    expect(await scene.ruleFor(plugin)).toBe('delegate')
    expect(await scene.ruleFor(built(transferV1(umi, { asset: id, newOwner: thief })))).toBe('authority')
  })

  without('core')('a collection takes new assets and no new plugins', async () => {
    const scene = await openScene({ programs: true })
    const { umi, signer, built } = coreOf(scene)
    const [collection, asset, user] = [Keypair.generate(), Keypair.generate(), scene.stranger]
    const name = { name: 'Genesis', uri: 'https://example.com/a.json' }
    scene.send(built(createCollection(umi, { collection: signer(collection.publicKey), ...name })), [
      scene.wallet,
      collection,
    ])
    const id = publicKey(text(collection.publicKey))
    const minting = built(
      create(umi, {
        asset: signer(asset.publicKey),
        collection: { publicKey: id },
        authority: signer(scene.key),
        payer: signer(user.publicKey),
        owner: publicKey(text(user.publicKey)),
        ...name,
      }),
    )
    expect(await scene.ruleFor(minting, { role: 'cosigns', payer: user })).toBeNull()
    const authority = { type: 'Address', address: publicKey(text(someone())) } as const
    const plugin = { type: 'UpdateDelegate', authority, additionalDelegates: [] as never[] } as const
    expect(await scene.ruleFor(built(addCollectionPlugin(umi, { collection: id, plugin })))).toBe('delegate')
  })

  without('dbc', 'tokenMetadata')(
    'a pool of Meteora DBC takes what it asks, and claimed fees stay with the wallet',
    async () => {
      const scene = await openScene({ programs: true })
      const BN = (await import('node:module')).createRequire(import.meta.url)('bn.js')
      const client = new dbc.DynamicBondingCurveClient(web3Over(scene.chain) as never, 'confirmed')
      const [config, mint] = [Keypair.generate(), Keypair.generate()]
      const launch = await client.partner.createConfigAndPool({
        payer: scene.key,
        config: config.publicKey,
        feeClaimer: scene.key,
        leftoverReceiver: scene.key,
        quoteMint: spl.NATIVE_MINT,
        ...launchCurve(dbc),
        preCreatePoolParam: {
          name: 'Test Coin',
          symbol: 'TST',
          uri: 'https://example.com/z.json',
          poolCreator: scene.key,
          baseMint: mint.publicKey,
        },
      })
      const cosigners = [text(config.publicKey), text(mint.publicKey)]
      // Rent moves within the program: the limit holds it all the same.
      const cost = (await scene.read(launch.instructions)).lamports_out
      expect(cost).toBeGreaterThan(10_000_000n)
      const told = (lamports_per_transaction: bigint) => ({ cosigners, policy: { lamports_per_transaction } })
      expect(await scene.ruleFor(launch.instructions, told(cost))).toBeNull()
      expect(await scene.ruleFor(launch.instructions, told(cost - 1n))).toBe('lamports_per_transaction')
      const before = scene.lamportsOf(scene.key)
      scene.send(launch.instructions, [scene.wallet, config, mint])
      expect(before - scene.lamportsOf(scene.key)).toBe(cost)

      const pool = dbc.deriveDbcPoolAddress(spl.NATIVE_MINT, mint.publicKey, config.publicKey)
      const swap = (owner: PublicKey) =>
        client.pool.swap2({
          owner,
          pool,
          swapMode: dbc.SwapMode.ExactIn,
          amountIn: new BN(5e9),
          minimumAmountOut: new BN(0),
          swapBaseForQuote: false,
          referralTokenAccount: null,
        })
      const buy = (await swap(scene.key)).instructions
      expect(await scene.ruleFor(buy, { policy: { lamports_per_transaction: 5n * SOL } })).toBe(
        'lamports_per_transaction',
      )
      expect(await scene.ruleFor(buy)).toBeNull()

      scene.send((await swap(scene.stranger.publicKey)).instructions, [scene.stranger])
      const claim = {
        feeClaimer: scene.key,
        payer: scene.key,
        pool,
        maxBaseAmount: new BN('18446744073709551615'),
        maxQuoteAmount: new BN('18446744073709551615'),
      }
      const own = (await client.partner.claimPartnerTradingFee(claim)).instructions
      const receiver = scene.stranger.publicKey
      const theft = (await client.partner.claimPartnerTradingFeeToReceiver({ ...claim, receiver })).instructions
      const policy = { lamports_per_transaction: 10_000_000n }
      expect(await scene.ruleFor(own, { policy })).toBeNull()
      expect(await scene.ruleFor(theft, { policy })).toBe('lamports_per_transaction')
      expect(await scene.ruleFor(theft, { role: 'cosigns', payer: scene.stranger })).toBe('program')
      const give = await client.creator.transferPoolCreator({
        pool,
        creator: scene.key,
        newCreator: scene.stranger.publicKey,
      })
      expect(await scene.ruleFor(give.instructions)).toBe('authority')
    },
  )

  without('distributor')('a distributor of the wallet gives its rest back to the wallet alone', async () => {
    const scene = await openScene({ programs: true })
    const { mint, held } = scene.mint()
    const program = new PublicKey(PROGRAMS.distributor.id)
    const [distributor] = PublicKey.findProgramAddressSync(
      [Buffer.from('MerkleDistributor'), mint.toBuffer(), u64(0)],
      program,
    )
    const start = scene.local.unixTimestamp() + 60
    const create = new TransactionInstruction({
      programId: program,
      keys: [
        meta(distributor, 'w'),
        meta(held, 'w'),
        meta(mint),
        meta(ata(mint, distributor), 'w'),
        meta(scene.key, 'sw'),
        meta(SystemProgram.programId),
        meta(spl.ASSOCIATED_TOKEN_PROGRAM_ID),
        meta(TOKEN_PROGRAM_ID),
      ],
      data: Buffer.concat([
        discriminator('new_distributor'),
        u64(0),
        Buffer.alloc(32, 7),
        ...[1000, 2, start, start + 100, start + 100 + 86_400].map(u64),
      ]),
    })
    expect(await scene.ruleFor([create])).toBeNull()
    scene.send([create])
    const thief = scene.accountOf(scene.stranger, mint)
    const redirect = new TransactionInstruction({
      programId: program,
      keys: [meta(distributor, 'w'), meta(thief), meta(scene.key, 'sw')],
      data: discriminator('set_clawback_receiver'),
    })
    expect(await scene.ruleFor([redirect])).toBe('authority')
    const admin = new TransactionInstruction({
      programId: program,
      keys: [meta(distributor, 'w'), meta(scene.key, 'sw'), meta(scene.stranger.publicKey, 'w')],
      data: discriminator('set_admin'),
    })
    expect(await scene.ruleFor([admin])).toBe('authority')
  })

  without('lock')('an escrow that the wallet made keeps its recipient', async () => {
    const scene = await openScene({ programs: true })
    const { mint, held } = scene.mint()
    const program = new PublicKey(PROGRAMS.lock.id)
    const base = Keypair.generate()
    const find = (...seeds: Uint8Array[]) => PublicKey.findProgramAddressSync(seeds, program)[0]
    const escrow = find(Buffer.from('escrow'), base.publicKey.toBuffer())
    const events = find(Buffer.from('__event_authority'))
    const start = scene.local.unixTimestamp()
    const create = new TransactionInstruction({
      programId: program,
      keys: [
        meta(base.publicKey, 'sw'),
        meta(escrow, 'w'),
        meta(ata(mint, escrow), 'w'),
        meta(scene.key, 'sw'),
        meta(held, 'w'),
        meta(scene.funded(SOL).publicKey),
        meta(TOKEN_PROGRAM_ID),
        meta(SystemProgram.programId),
        meta(events),
        meta(program),
      ],
      // The creator may update the recipient, and nobody may cancel.
      data: Buffer.concat([
        discriminator('create_vesting_escrow'),
        ...[start, start + 86_400, 1, 1000, 0, 0].map(u64),
        Buffer.from([1, 0]),
      ]),
    })
    const cosigners = [text(base.publicKey)]
    const opened = [createAta(scene.key, mint, escrow), create]
    expect(await scene.ruleFor(opened, { cosigners })).toBeNull()
    expect(await scene.ruleFor(opened, { cosigners, policy: { tokens: [] } })).toBe('tokens_per_transaction')
    scene.send(opened, [scene.wallet, base])
    const redirect = new TransactionInstruction({
      programId: program,
      keys: [
        meta(escrow, 'w'),
        meta(program),
        meta(scene.key, 'sw'),
        meta(SystemProgram.programId),
        meta(events),
        meta(program),
      ],
      data: Buffer.concat([
        discriminator('update_vesting_escrow_recipient'),
        scene.stranger.publicKey.toBuffer(),
        Buffer.from([0]),
      ]),
    })
    expect(await scene.ruleFor([redirect])).toBe('authority')
  })
})
